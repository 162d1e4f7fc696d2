export interface PatchLimits {
  readonly file_bytes: number
  readonly total_bytes: number
}

/** What a file's part of a patch says. Counts and blob are right also where the text was not kept. */
export interface PatchPart {
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
  /** The new content, where its `index` line names it. */
  readonly new_blob: string | null
  /** Its text, unless it went over a limit. */
  readonly kept: Buffer | 'too_large' | 'budget'
}

/** A part that is being read. */
export interface OpenPart {
  readonly file: number
  additions: number
  deletions: number
  binary: boolean
  new_blob: string | null
}

/**
 * Collects the parts of a patch. A file over its limit is not kept, nor is any once the total is reached: what
 * comes later then is no better than what came first.
 */
export function createPatchParts(limits: PatchLimits) {
  const parts = new Map<number, PatchPart>()
  let current: OpenPart | null = null
  let pieces: Buffer[] = []
  let size = 0
  let total = 0
  let full = false

  return {
    parts: parts as ReadonlyMap<number, PatchPart>,
    current: (): OpenPart | null => current,
    open(file: number): void {
      current = { file, additions: 0, deletions: 0, binary: false, new_blob: null }
    },
    append(bytes: Buffer): void {
      if (!current || bytes.length === 0) return
      size += bytes.length
      // Copied, so that a small piece does not hold the whole chunk that it came in.
      if (size <= limits.file_bytes && !full) pieces.push(Buffer.from(bytes))
      else pieces = []
    },
    finish(): void {
      if (!current) return
      const { file, ...facts } = current
      const fits = size <= limits.file_bytes
      if (fits && total + size > limits.total_bytes) full = true
      const kept = !fits ? 'too_large' : full ? 'budget' : Buffer.concat(pieces)
      if (typeof kept !== 'string') total += size
      parts.set(file, { ...facts, kept })
      current = null
      pieces = []
      size = 0
    },
  }
}
