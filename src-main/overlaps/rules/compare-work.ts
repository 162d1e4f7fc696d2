/** A file that the work of a task changes against its base. */
export interface ChangedFile {
  readonly path: string
  /** Its name in the base, where it was renamed. */
  readonly old_path: string | null
  /** The file is not in the base under any name. */
  readonly is_added: boolean
  /** Its content now; null when it was deleted. */
  readonly blob: string | null
  /** Which lines of the base change, from 1; null where that is not known, as for a binary file. */
  readonly lines: readonly LineRange[] | null
}

export interface LineRange {
  readonly from: number
  /** The last line; one less than `from` where lines are only added, after line `from`. */
  readonly to: number
}

/** Changes at most so many lines apart count as near each other. */
const nearLines = 3

/** Whether two sets of changes could conflict, so that a merge has to tell. Never false where git finds a conflict. */
export function canConflict(one: readonly ChangedFile[], other: readonly ChangedFile[]): boolean {
  const [mine, theirs] = [namesOf(one), namesOf(other)]
  for (const name of mine) if (theirs.has(name)) return true
  return (
    isInside(mine, theirs) || isInside(theirs, mine) || meetsMovedFolder(one, other) || meetsMovedFolder(other, one)
  )
}

/** The files in which two sets of changes come within three lines of each other; by their path in the first set. */
export function nearFiles(one: readonly ChangedFile[], other: readonly ChangedFile[]): readonly string[] {
  const theirs = new Map(other.map((file) => [file.old_path ?? file.path, file]))
  return one
    .filter((file) => {
      const match = theirs.get(file.old_path ?? file.path)
      if (!match || file.is_added || match.is_added || file.blob === match.blob) return false
      return areNear(file.lines ?? [], match.lines ?? [])
    })
    .map(({ path }) => path)
}

function areNear(one: readonly LineRange[], other: readonly LineRange[]): boolean {
  return one.some((a) => other.some((b) => Math.max(a.from, b.from) - Math.min(last(a), last(b)) <= nearLines))
}

const last = ({ from, to }: LineRange): number => Math.max(from, to)

function namesOf(files: readonly ChangedFile[]): ReadonlySet<string> {
  return new Set(files.flatMap(({ path, old_path }) => (old_path === null ? [path] : [path, old_path])))
}

/** Whether one side has a file where the other has a folder. */
function isInside(names: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const name of names) {
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1))
      if (others.has(name.slice(0, end))) return true
  }
  return false
}

/** Whether one side adds a file to a folder that the other may have moved. */
function meetsMovedFolder(one: readonly ChangedFile[], other: readonly ChangedFile[]): boolean {
  const added = one.filter(({ is_added, old_path }) => is_added || old_path !== null)
  if (added.length === 0) return false
  const moved = new Set(other.flatMap(({ path, old_path }) => (old_path === null ? [] : [movedFolder(old_path, path)])))
  return added.some(({ path }) => [...moved].some((folder) => folder === '' || path.startsWith(`${folder}/`)))
}

/** The highest folder that a rename may stand for: that of the old name, less the folders both names end in. */
function movedFolder(from: string, to: string): string {
  const [before, after] = [from, to].map((path) => path.split('/').slice(0, -1)) as [string[], string[]]
  while (before.length > 0 && after.length > 0 && before.at(-1) === after.at(-1)) {
    before.pop()
    after.pop()
  }
  return before.join('/')
}
