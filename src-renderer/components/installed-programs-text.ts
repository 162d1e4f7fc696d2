import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { DetectedAgent } from '../../src-shared/contract/projects.ts'
import type { GlyphName, Tone } from './state-glyphs.ts'

export interface FoundState {
  readonly tone: Tone
  readonly glyph: GlyphName
  readonly text: string
}

/** What was found of a program, in two words. */
export function installState(found: DetectedAgent): FoundState {
  if (!found.installed) return { tone: 'neutral', glyph: 'waiting', text: 'Not installed' }
  if (found.signed_in === true) return { tone: 'ok', glyph: 'succeeded', text: 'Signed in' }
  if (found.signed_in === false) return { tone: 'warn', glyph: 'blocked', text: 'Not signed in' }
  return { tone: 'ok', glyph: 'succeeded', text: 'Installed' }
}

/** The coding agents that were looked for, installed ones first. */
export function detectedPrograms(detected: readonly DetectedAgent[]): readonly DetectedAgent[] {
  return detected.filter(isProgram).toSorted((a, b) => Number(b.installed) - Number(a.installed))
}

/** Programs that lie on this machine; the rest of the kinds are what a person brings. */
function isProgram(found: DetectedAgent): boolean {
  return executorInfos[found.executor].command === 'path'
}
