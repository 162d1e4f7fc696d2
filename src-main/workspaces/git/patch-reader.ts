const boundary = Buffer.from('\ndiff --git ')

export interface PatchLimits {
  readonly file_bytes: number
  readonly total_bytes: number
}

/**
 * Cuts git's patch into its files as it streams by, and keeps those within the limits. `sections` says for each
 * file, in git's order, how many `diff --git` headers it has. `only` keeps one file's alone.
 */
export function createPatchReader(sections: readonly number[], limits: PatchLimits, only: number | null) {
  const kept = new Map<number, Buffer>()
  let carry = Buffer.from('\n')
  let file = -1
  let sectionsLeft = 0
  let pieces: Buffer[] = []
  let size = 0
  let total = 0
  let full = false

  const finish = (): void => {
    if (file >= 0 && size <= limits.file_bytes && (only === null || file === only)) {
      if (total + size > limits.total_bytes) full = true
      else {
        kept.set(file, Buffer.concat(pieces))
        total += size
      }
    }
    pieces = []
    size = 0
  }
  const append = (bytes: Buffer): void => {
    size += bytes.length
    // Copied, so that a small piece does not hold the whole chunk that it came in.
    if (size <= limits.file_bytes && file >= 0 && (only === null || file === only)) pieces.push(Buffer.from(bytes))
    else pieces = []
  }
  const startSection = (): void => {
    if (sectionsLeft > 0) {
      sectionsLeft -= 1
      return
    }
    finish()
    file += 1
    sectionsLeft = (sections[file] ?? 1) - 1
  }

  return {
    /** `enough` when nothing that follows can be kept. */
    take(chunk: Buffer): 'more' | 'enough' {
      const data = Buffer.concat([carry, chunk])
      let start = 0
      for (;;) {
        const at = data.indexOf(boundary, start)
        if (at < 0) break
        append(data.subarray(start, at + 1))
        start = at + 1
        startSection()
        if (full || (only !== null && file > only)) return 'enough'
      }
      const end = Math.max(start, data.length - boundary.length + 1)
      append(data.subarray(start, end))
      carry = Buffer.from(data.subarray(end))
      return 'more'
    },
    /** The patches that were kept, by the file's place in git's order. */
    end(): ReadonlyMap<number, Buffer> {
      if (!full && (only === null || file <= only)) {
        append(carry)
        finish()
      }
      return kept
    },
  }
}
