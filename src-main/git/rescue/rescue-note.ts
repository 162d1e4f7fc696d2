import { z } from 'zod'
import { rescueReasons, type RescueReason } from '../../../src-shared/contract/rescues.ts'

/** A rescue's note, stored in the reflog of its ref, so that both are deleted together. */
export interface RescueNote {
  readonly reason: RescueReason
  readonly kind: 'uncommitted' | 'commits'
  readonly files: number
  readonly submodule: string | null
}

const intro = 'copse: rescue '
const Note = z.object({
  reason: z.enum(rescueReasons).catch('unknown'),
  kind: z.enum(['uncommitted', 'commits']),
  files: z.int().min(0),
  // Encoded, because git collapses spaces in a reflog's message.
  submodule: z.string().nullable(),
})

export function writeNote(note: RescueNote): string {
  const submodule = note.submodule === null ? null : encodeURIComponent(note.submodule)
  return `${intro}${JSON.stringify({ ...note, submodule })}`
}

/** Returns null if the text is no note of this program, as with refs of its first version. */
export function readNote(text: string): RescueNote | null {
  if (!text.startsWith(`${intro}{`)) return null
  try {
    const { submodule, ...note } = Note.parse(JSON.parse(text.slice(intro.length)))
    return { ...note, submodule: submodule === null ? null : decodeURIComponent(submodule) }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || error instanceof URIError) return null
    throw error
  }
}
