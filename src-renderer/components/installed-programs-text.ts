import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { DetectedAgent } from '../../src-shared/contract/projects.ts'
import type { GlyphName, Tone } from './state-glyphs.ts'

export interface FoundState {
  readonly tone: Tone
  readonly glyph: GlyphName
  readonly text: string
}

/** Describes a detected program in one or two words. */
export function installState(found: DetectedAgent): FoundState {
  if (!found.installed) return { tone: 'neutral', glyph: 'waiting', text: 'Not installed' }
  if (found.signed_in === true) return { tone: 'ok', glyph: 'succeeded', text: 'Signed in' }
  if (found.signed_in === false) return { tone: 'warn', glyph: 'blocked', text: 'Not signed in' }
  return { tone: 'ok', glyph: 'succeeded', text: 'Installed' }
}

/** Returns the coding agents that detection covers, installed ones first. */
export function detectedPrograms(detected: readonly DetectedAgent[]): readonly DetectedAgent[] {
  return detected.filter(isProgram).toSorted((a, b) => Number(b.installed) - Number(a.installed))
}

/** Returns whether the kind is a program on this machine; for other kinds the user provides the command. */
function isProgram(found: DetectedAgent): boolean {
  return executorInfos[found.executor].command === 'path'
}
