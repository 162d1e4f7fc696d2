import type { RunnerState } from '../../../../src-shared/contract/runners.ts'
import type { GlyphName, Tone } from '../../../components/state-glyphs.ts'

/** How the state of a runner is drawn; its words are in `runnerStateLabels`. */
export const runnerStateFaces: Readonly<Record<RunnerState, { readonly tone: Tone; readonly glyph: GlyphName }>> = {
  ready: { tone: 'ok', glyph: 'succeeded' },
  unreachable: { tone: 'fail', glyph: 'failed' },
  outdated: { tone: 'warn', glyph: 'skipped' },
  unchecked: { tone: 'neutral', glyph: 'waiting' },
}
