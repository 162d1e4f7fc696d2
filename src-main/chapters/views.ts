import type { Chapter, ChapterRisk, Chapters, RejectedChapters } from '../../src-shared/contract/chapters.ts'
import { hasViewedHunk, type ViewedMarks } from '../domain/review/viewed-marks.ts'
import type { ChaptersByRules } from './rules/build-chapters.ts'
import type { FileHunks } from './rules/hunk.ts'
import type { Risk } from './rules/risks/find-risks.ts'

const maxRisksOfKind = 50

/** Content of a file, as readers mark it. */
interface FileContent {
  readonly blob: string | null
  readonly new_mode: string | null
}

/** Chapters as they are kept: as clients see them, without what each reader has viewed, and without lines. */
export interface KeptChapters {
  readonly tree: string
  readonly source: Chapters['source']
  readonly chapters: readonly Chapter[]
  readonly risks: readonly ChapterRisk[]
  readonly contents: ReadonlyMap<string, FileContent>
}

export function toKept(tree: string, files: readonly FileHunks[], told: ChaptersByRules): KeptChapters {
  return {
    tree,
    source: 'files',
    chapters: told.chapters.map(({ hunks, packages, ...chapter }): Chapter => ({
      ...chapter,
      hunks: hunks.map(({ hunk: { id, path, cause, old, new: now }, kind, from }) => ({
        id,
        path,
        cause,
        old: [...old],
        new: [...now],
        kind,
        from: from && { path: from.path, line: from.line },
        viewed: false,
      })),
      ...(packages && { packages: [...packages] }),
    })),
    risks: limitRisks(told.risks),
    contents: new Map(files.map(({ path, blob, new_mode }) => [path, { blob, new_mode }])),
  }
}

/** Returns at most 50 risks of each kind; the last one says how many more there are. */
function limitRisks(risks: readonly Risk[]): readonly ChapterRisk[] {
  return [...Map.groupBy(risks, ({ kind }) => kind).values()].flatMap((all): readonly ChapterRisk[] => {
    const more = all.length - maxRisksOfKind
    const shown = all.slice(0, maxRisksOfKind)
    return more <= 0 ? shown : shown.map((risk, at) => (at === maxRisksOfKind - 1 ? { ...risk, more } : risk))
  })
}

/** Words of a person or an agent about a tree; nothing of both where there are none. */
interface Told {
  readonly by: string | null
  readonly rejected: RejectedChapters | null
}

/** Returns the chapters for one reader. */
export function toView(
  { tree, source, chapters, risks, contents }: KeptChapters,
  pending: boolean,
  marks: ViewedMarks,
  { by, rejected }: Told = { by: null, rejected: null },
): Chapters {
  const isViewed = ({ id, path }: { readonly id: string; readonly path: string }): boolean => {
    const content = contents.get(path)
    return content !== undefined && hasViewedHunk(id, { path, ...content }, marks)
  }
  return {
    tree,
    source,
    pending,
    by,
    chapters: chapters.map((chapter) => ({
      ...chapter,
      hunks: chapter.hunks.map((hunk) => ({ ...hunk, viewed: isViewed(hunk) })),
    })),
    risks: [...risks],
    rejected,
  }
}
