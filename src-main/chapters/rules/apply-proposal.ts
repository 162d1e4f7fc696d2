import type { Chapter, ProposedChapter } from '../../../src-shared/contract/chapters.ts'

type Hunk = Chapter['hunks'][number]

/**
 * Returns the chapters in the words and order of a proposal that holds each hunk once. What the rules fold stays
 * folded, at the end and with their proof: no proposal hides a hunk, and none has people read what is proven.
 */
export function applyProposal(byRules: readonly Chapter[], proposed: readonly ProposedChapter[]): readonly Chapter[] {
  const open = new Map<string, { readonly hunk: Hunk; readonly chapter: Chapter }>()
  for (const chapter of byRules) {
    if (!chapter.folded) for (const hunk of chapter.hunks) open.set(hunk.id, { hunk, chapter })
  }
  const told = proposed.flatMap(({ title, why, hunks: ids }): readonly Chapter[] => {
    const found = ids.flatMap((id) => open.get(id) ?? [])
    const hunks = found.map(({ hunk }) => hunk)
    const [first] = hunks
    if (!first) return []
    const packages = found.find(({ chapter }) => chapter.packages)?.chapter.packages
    const chapter = { id: first.id, title, why, kind: mostOf(hunks), folded: false, hunks }
    return [packages ? { ...chapter, packages } : chapter]
  })
  return [...told, ...byRules.filter(({ folded }) => folded)]
}

/** Returns the kind that most lines of the hunks have; of equals the first. */
function mostOf(hunks: readonly Hunk[]): Hunk['kind'] {
  const lines = new Map<Hunk['kind'], number>()
  for (const { kind, old, new: now } of hunks) lines.set(kind, (lines.get(kind) ?? 0) + Math.max(1, old[1] + now[1]))
  const [most] = [...lines].toSorted(([, one], [, other]) => other - one)
  return most?.[0] ?? 'other'
}
