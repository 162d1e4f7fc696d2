import type { ViewedContent } from '../../../src-shared/contract/workspaces.ts'

/** A changed file as it is now, with its hunks. */
export interface MarkableFile extends ViewedContent {
  readonly hunks: readonly { readonly id: string }[]
}

/** A hunk that a reader has viewed. */
export interface ViewedHunk {
  readonly id: string
  readonly path: string
}

/** What a reader has viewed of a task's changes. */
export interface ViewedMarks {
  /** By path: the content that was viewed as a whole. */
  readonly files: ReadonlyMap<string, Pick<ViewedContent, 'blob' | 'new_mode'>>
  /** By path: the ids of the hunks that were viewed, at least one. */
  readonly hunks: ReadonlyMap<string, ReadonlySet<string>>
}

/** What a reader marks or unmarks. */
export interface MarkWish {
  readonly files: readonly ViewedContent[]
  readonly hunks: readonly string[]
  readonly viewed: boolean
}

/** How the marks change, and what the reader's other windows are told. */
export interface MarkChange {
  readonly put_files: readonly ViewedContent[]
  readonly put_hunks: readonly ViewedHunk[]
  /** Paths whose content is no longer viewed as a whole. */
  readonly drop_files: readonly string[]
  readonly drop_hunks: readonly string[]
  readonly files: readonly ViewedContent[]
  readonly hunks: readonly string[]
}

export const noMarks: ViewedMarks = { files: new Map(), hunks: new Map() }

/** Groups marks as they are stored. */
export function toMarks(files: readonly ViewedContent[], hunks: readonly ViewedHunk[]): ViewedMarks {
  return {
    files: new Map(files.map((mark) => [mark.path, mark])),
    hunks: new Map(
      [...Map.groupBy(hunks, ({ path }) => path)].map(([path, some]) => [path, new Set(some.map(({ id }) => id))]),
    ),
  }
}

/** Returns whether the reader has viewed this content of a file as a whole. */
export function hasViewedContent({ path, blob, new_mode }: ViewedContent, { files }: ViewedMarks): boolean {
  const mark = files.get(path)
  return mark !== undefined && mark.blob === blob && mark.new_mode === new_mode
}

/**
 * Returns whether the reader has viewed a hunk of a file. The content alone counts only while no hunks are known to be
 * viewed, because the same content can be another change of another base.
 */
export function hasViewedHunk(id: string, file: ViewedContent, marks: ViewedMarks): boolean {
  return marks.hunks.get(file.path)?.has(id) ?? hasViewedContent(file, marks)
}

/** Returns whether the reader has viewed all hunks of a file. */
export function hasViewedFile(file: MarkableFile, marks: ViewedMarks): boolean {
  return file.hunks.every(({ id }) => hasViewedHunk(id, file, marks))
}

/**
 * Plans how marks change. A file's mark is that of its hunks, so that a later change of the file takes only the marks
 * of the hunks that it changes. `now`: the changed files as they are.
 */
export function planMarks(wish: MarkWish, now: readonly MarkableFile[], marks: ViewedMarks): MarkChange {
  return wish.viewed ? planViewed(wish, now, marks) : planUnviewed(wish, now, marks)
}

/** More hunks than a person reads: beyond, files are marked by their content alone, so that no write takes long. */
const maxHunksOfFiles = 20_000

function planViewed(wish: MarkWish, now: readonly MarkableFile[], marks: ViewedMarks): MarkChange {
  const wished = new Set(wish.hunks)
  // Of a content that is gone, the hunks are unknown: the mark counts once the content is back.
  const asSeen = now.filter((file) => wish.files.some((one) => one.path === file.path && isSameContent(one, file)))
  const seen = new Set(asSeen)
  const touched = now.filter((file) => !seen.has(file) && file.hunks.some(({ id }) => wished.has(id)))
  let left = maxHunksOfFiles
  const [byHunk, byContent] = [new Array<MarkableFile>(), new Array<MarkableFile>()]
  for (const file of asSeen) {
    left -= file.hunks.length
    if (left >= 0) byHunk.push(file)
    else byContent.push(file)
  }
  const put_hunks = [
    ...byHunk.flatMap((file) => file.hunks.map(({ id }) => ({ id, path: file.path }))),
    ...touched.flatMap((file) =>
      file.hunks
        .filter(({ id }) => wished.has(id) || hasViewedHunk(id, file, marks))
        .map(({ id }) => ({ id, path: file.path })),
    ),
  ]
  const put = new Set(put_hunks.map(({ id }) => id))
  const whole = touched.filter(({ hunks }) => hunks.every(({ id }) => put.has(id))).map(contentOf)
  const files = [...wish.files, ...whole]
  const paths = new Set(byHunk.map(({ path }) => path))
  return {
    put_files: files,
    put_hunks,
    drop_files: [],
    drop_hunks: byContent.flatMap(({ path }) => [...(marks.hunks.get(path) ?? [])]),
    files,
    hunks: put_hunks.filter(({ id, path }) => paths.has(path) || wished.has(id)).map(({ id }) => id),
  }
}

function planUnviewed(wish: MarkWish, now: readonly MarkableFile[], marks: ViewedMarks): MarkChange {
  const wished = new Set(wish.hunks)
  const paths = new Set(wish.files.map(({ path }) => path))
  const named = now.filter(({ path }) => paths.has(path))
  const touched = now.filter(({ path, hunks }) => !paths.has(path) && hunks.some(({ id }) => wished.has(id)))
  // Those that were viewed with their file stay viewed.
  const put_hunks = touched.flatMap((file) =>
    file.hunks
      .filter(({ id }) => !wished.has(id) && hasViewedHunk(id, file, marks))
      .map(({ id }) => ({ id, path: file.path })),
  )
  const hunks = [...new Set([...named.flatMap((file) => file.hunks.map(({ id }) => id)), ...wish.hunks])]
  const ofPaths = [...paths].flatMap((path) => [...(marks.hunks.get(path) ?? [])])
  return {
    put_files: [],
    put_hunks,
    drop_files: [...paths, ...touched.map(({ path }) => path)],
    drop_hunks: [...new Set([...ofPaths, ...hunks])],
    files: [...wish.files, ...touched.filter((file) => hasViewedFile(file, marks)).map(contentOf)],
    hunks,
  }
}

const isSameContent = (one: ViewedContent, other: ViewedContent): boolean =>
  one.blob === other.blob && one.new_mode === other.new_mode

const contentOf = ({ path, blob, new_mode }: ViewedContent): ViewedContent => ({ path, blob, new_mode })
