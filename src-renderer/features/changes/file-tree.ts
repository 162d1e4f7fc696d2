import type { DiffFile } from '../../../src-shared/contract/workspaces.ts'

export type TreeRow =
  | {
      readonly kind: 'folder'
      readonly path: string
      readonly name: string
      readonly depth: number
      readonly open: boolean
    }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly name: string
      readonly depth: number
      readonly file: DiffFile
    }

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: DiffFile[]
}

/**
 * Returns the visible rows of the tree: folders before files, both by name; a chain of single
 * folders is one row (`src/main/java`). `closed` has full paths; a filter opens every folder with a
 * match.
 */
export function treeRows(files: readonly DiffFile[], closed: ReadonlySet<string>, filter: string): TreeRow[] {
  const needle = filter.trim().toLowerCase()
  const shown = needle === '' ? files : files.filter((file) => file.path.toLowerCase().includes(needle))
  const rows: TreeRow[] = []
  addFolder(rows, buildFolder(shown), '', 0, needle === '' ? closed : new Set())
  return rows
}

/** Returns the files in tree order, which `[` and `]` step through. */
export function treeOrder(files: readonly DiffFile[]): DiffFile[] {
  return treeRows(files, new Set(), '').flatMap((row) => (row.kind === 'file' ? [row.file] : []))
}

function buildFolder(files: readonly DiffFile[]): Folder {
  const root: Folder = { folders: new Map(), files: [] }
  for (const file of files) {
    let folder = root
    for (const part of file.path.split('/').slice(0, -1)) {
      const next = folder.folders.get(part) ?? { folders: new Map<string, Folder>(), files: [] }
      folder.folders.set(part, next)
      folder = next
    }
    folder.files.push(file)
  }
  return root
}

/** Sorts numbers in names by value: `module2` before `module10`. */
const collator = new Intl.Collator('en', { numeric: true })
function byName(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}

function addFolder(rows: TreeRow[], folder: Folder, path: string, depth: number, closed: ReadonlySet<string>): void {
  for (const [first, child] of [...folder.folders].sort(([a], [b]) => byName(a, b))) {
    let name = first
    let inner = child
    while (inner.files.length === 0 && inner.folders.size === 1) {
      const [only] = inner.folders
      if (only === undefined) break
      name += `/${only[0]}`
      inner = only[1]
    }
    const full = path + name
    const open = !closed.has(full)
    rows.push({ kind: 'folder', path: full, name, depth, open })
    if (open) addFolder(rows, inner, `${full}/`, depth + 1, closed)
  }
  for (const file of folder.files.toSorted((a, b) => byName(a.path, b.path))) {
    rows.push({ kind: 'file', path: file.path, name: file.path.slice(file.path.lastIndexOf('/') + 1), depth, file })
  }
}

/** Returns the index of the parent folder's row, or `index` at the top level. */
export function parentRow(rows: readonly TreeRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0
  const found = rows.slice(0, index).findLastIndex((row) => row.depth < depth)
  return found < 0 ? index : found
}

/**
 * Splits off the extension, so that names are truncated before it: `lease.test.ts` → [`lease.test`,
 * `.ts`].
 */
export function splitName(name: string): readonly [stem: string, ending: string] {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)]
}
