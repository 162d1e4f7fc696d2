/** The state glyphs. The shape identifies the kind; colour only repeats it. */
export type GlyphName =
  | 'backlog'
  | 'initial'
  | 'active'
  | 'gate'
  | 'gate-passed'
  | 'gate-waiting'
  | 'custom'
  | 'merging'
  | 'merge-failed'
  | 'blocked'
  | 'barrier'
  | 'terminal'
  | 'cancelled'
  | 'running'
  | 'failed'
  | 'timed-out'
  | 'skipped'
  | 'succeeded'
  | 'waiting'
  | 'clock'

/** The meaning of a glyph, a pill or a note. `neutral` is quiet grey. */
export type Tone = 'run' | 'ok' | 'warn' | 'fail' | 'you' | 'neutral'

interface Drawing {
  readonly tone: Tone
  readonly paths: readonly Shape[]
}
/** `fill`: painted, not outlined. `cut`: drawn in the ground's colour over a painted shape. */
interface Shape {
  readonly d: string
  readonly fill?: true
  readonly cut?: true
  readonly dash?: true
  readonly faint?: true
  readonly width?: number
}

const ring = 'M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0'
const square =
  'M4.8 2.6h6.4a2.2 2.2 0 0 1 2.2 2.2v6.4a2.2 2.2 0 0 1-2.2 2.2H4.8a2.2 2.2 0 0 1-2.2-2.2V4.8a2.2 2.2 0 0 1 2.2-2.2z'
const diamond = 'M8 1.9 14.1 8 8 14.1 1.9 8z'
const octagon = 'M5.6 2h4.8L14 5.6v4.8L10.4 14H5.6L2 10.4V5.6z'
const centre = 'M6.3 8a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0'

/** The drawings in their 16 px box. */
export const glyphs: Readonly<Record<GlyphName, Drawing>> = {
  backlog: { tone: 'neutral', paths: [{ d: ring, dash: true }] },
  initial: { tone: 'neutral', paths: [{ d: ring }] },
  active: { tone: 'run', paths: [{ d: ring }, { d: 'M8 4.6a3.4 3.4 0 0 1 0 6.8z', fill: true }] },
  gate: { tone: 'you', paths: [{ d: diamond }, { d: centre, fill: true }] },
  'gate-passed': {
    tone: 'ok',
    paths: [
      { d: diamond, fill: true },
      { d: 'm5.6 8.1 1.7 1.7 3.1-3.4', cut: true, width: 1.6 },
    ],
  },
  'gate-waiting': { tone: 'neutral', paths: [{ d: diamond }] },
  custom: { tone: 'neutral', paths: [{ d: square }, { d: centre, fill: true }] },
  merging: { tone: 'neutral', paths: [{ d: square }, { d: 'M5.6 5.6 8 8v3M10.4 5.6 8 8' }] },
  'merge-failed': { tone: 'fail', paths: [{ d: square }, { d: 'm6 6 4 4M10 6l-4 4' }] },
  blocked: { tone: 'warn', paths: [{ d: octagon }, { d: 'M5.3 8h5.4' }] },
  barrier: {
    tone: 'warn',
    paths: [
      {
        d: 'M3.6 13V4.4L5 3l1.4 1.4V13M9.6 13V4.4L11 3l1.4 1.4V13M1.6 7h2M6.4 7h3.2M12.4 7h2M1.6 10.4h2M6.4 10.4h3.2M12.4 10.4h2',
      },
    ],
  },
  terminal: {
    tone: 'ok',
    paths: [
      { d: 'M1.9 8a6.1 6.1 0 1 0 12.2 0a6.1 6.1 0 1 0-12.2 0', fill: true },
      { d: 'm5.3 8.2 1.9 1.9 3.6-3.9', cut: true, width: 1.6 },
    ],
  },
  cancelled: { tone: 'neutral', paths: [{ d: ring }, { d: 'M4.3 11.7 11.7 4.3' }] },
  running: {
    tone: 'run',
    paths: [
      { d: ring, faint: true },
      { d: 'M8 2.5A5.5 5.5 0 0 1 13.5 8', width: 1.7 },
    ],
  },
  failed: {
    tone: 'fail',
    paths: [
      { d: octagon, fill: true },
      { d: 'm5.9 5.9 4.2 4.2M10.1 5.9l-4.2 4.2', cut: true, width: 1.6 },
    ],
  },
  'timed-out': { tone: 'fail', paths: [{ d: 'M8 1.9 14.6 13.4H1.4z' }, { d: 'M8 6.2v3.2M8 11.4v.1' }] },
  skipped: {
    tone: 'warn',
    paths: [
      { d: ring, dash: true },
      { d: 'm6.6 5.8 2.6 2.2-2.6 2.2z', fill: true },
    ],
  },
  succeeded: { tone: 'ok', paths: [{ d: ring }, { d: 'm5.6 8.2 1.7 1.7 3.1-3.4' }] },
  waiting: { tone: 'neutral', paths: [{ d: ring }] },
  clock: { tone: 'warn', paths: [{ d: ring }, { d: 'M8 5v3.2l2 1.3' }] },
}
