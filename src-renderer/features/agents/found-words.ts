import type { DetectedAgent } from '../../../src-shared/contract/projects.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'

export interface FoundState {
  readonly tone: Tone
  readonly glyph: GlyphName
  readonly text: string
}

/** What was found of a program, in two words. */
export function foundState(found: DetectedAgent | null): FoundState | null {
  if (found === null) return null
  if (!found.installed) return { tone: 'neutral', glyph: 'waiting', text: 'Not found' }
  if (found.signed_in === true) return { tone: 'ok', glyph: 'succeeded', text: 'Signed in' }
  if (found.signed_in === false) return { tone: 'warn', glyph: 'blocked', text: 'Not signed in' }
  return { tone: 'ok', glyph: 'succeeded', text: 'Found' }
}

/** Programs that lie on this machine; the rest of the kinds are what a person brings. */
export function isProgram(found: DetectedAgent): boolean {
  return found.executor !== 'external' && found.executor !== 'acp' && found.executor !== 'command'
}
