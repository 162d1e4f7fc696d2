/** Differences between a list of chapters and the hunks that it must hold; all empty for a partition. */
export interface PartitionFaults {
  /** Hunks in no chapter. */
  readonly missing: readonly string[]
  /** Hunks that are named more than once. */
  readonly duplicate: readonly string[]
  /** Names that are no hunk. */
  readonly unknown: readonly string[]
}

/** Checks that each hunk is in exactly one chapter, once, and that chapters name nothing else. Returns null if so. */
export function checkPartition(
  chapters: readonly { readonly hunks: readonly string[] }[],
  ids: readonly string[],
): PartitionFaults | null {
  const known = new Set(ids)
  const seen = new Set<string>()
  const duplicate = new Set<string>()
  const unknown = new Set<string>()
  for (const { hunks } of chapters) {
    for (const id of hunks) {
      if (!known.has(id)) unknown.add(id)
      else if (seen.has(id)) duplicate.add(id)
      else seen.add(id)
    }
  }
  const missing = [...known].filter((id) => !seen.has(id))
  if (missing.length + duplicate.size + unknown.size === 0) return null
  return { missing, duplicate: [...duplicate], unknown: [...unknown] }
}
