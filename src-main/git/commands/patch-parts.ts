export interface PatchLimits {
  readonly file_bytes: number
  readonly total_bytes: number
}

/** A file's part of a patch. Counts and blob are right even if the text was not kept. */
export interface PatchPart {
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
  /** The new blob, if the `index` line names it. */
  readonly new_blob: string | null
  /** The part's text, or the limit that it exceeded. */
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
 * Collects the parts of a patch. Drops a file over its limit, and every file once the total is reached, because later
 * files are no better than earlier ones.
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
      // A copy, so that a small piece does not keep the whole chunk in memory.
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
