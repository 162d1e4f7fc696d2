import { isSource } from './file-kinds.ts'
import type { FileHunks, Hunk } from './hunk.ts'

/** A file of the repository that an added line needs or names. */
export interface NeededPath {
  /** As the line has it. */
  readonly name: string
  /** Where the file may be, from the repository's root. */
  readonly candidates: readonly string[]
  /** The line imports the file, so that nothing works without it. */
  readonly is_import: boolean
  readonly line: number
  readonly hunk: Hunk
}

/** What exists of the candidates of a needed path: only an ignored file, or one in an ignored folder; else null. */
export type IgnoredPlace = 'file' | 'folder' | null

const maxPaths = 2_000

/** Returns the relative paths that the added lines of source files import or name; at most 2,000. */
export function neededPaths(files: readonly FileHunks[]): readonly NeededPath[] {
  const found: NeededPath[] = []
  for (const { path, hunks } of files) {
    if (!isSource(path) || /\.(?:html?|sql)$/i.test(path)) continue
    const seen = new Set<string>()
    for (const hunk of hunks) {
      for (const [at, text] of hunk.added.entries()) {
        if (text.length > 1_000) continue
        for (const { name, candidates, is_import } of pathsIn(path, text)) {
          if (seen.has(name)) continue
          seen.add(name)
          found.push({ name, candidates, is_import, line: hunk.new[0] + at, hunk })
          if (found.length === maxPaths) return found
        }
      }
    }
  }
  return found
}

type Found = Pick<NeededPath, 'name' | 'candidates' | 'is_import'>

const quotedImport =
  /\b(?:from|import|require|require_relative|include|include_once|require_once)\b[\s(]*['"]([^'"]+)['"]/
const pythonImport = /^\s*(?:from\s+(\.*[\w.]*)\s+import\s+([\w, ]+)|import\s+([\w.]+))/
const embedded =
  /#include\s+"([^"]+)"|\binclude_(?:str|bytes)!\(\s*"([^"]+)"|^\s*\/\/go:embed\s+(\S+)|^\s*(?:source|\.)\s+["']?(\.{0,2}\/?[\w./-]+)/
const quoted = /["'`]((?:\.{1,2}\/)*[\w@-][\w@.-]*(?:\/[\w@.-]+)*\.[A-Za-z]\w{0,7})["'`]/g

function pathsIn(path: string, text: string): readonly Found[] {
  const folder = folderOf(path)
  const found = importsIn(path, folder, text)
  if (found.length > 0) return found
  return [...text.matchAll(quoted)].flatMap(([, name = '']) => {
    const candidates = inside([joined(folder, name), joined(name)])
    return candidates.length === 0 ? [] : [{ name, candidates, is_import: false }]
  })
}

function importsIn(path: string, folder: string, text: string): readonly Found[] {
  const asImport = (name: string, candidates: readonly string[]): readonly Found[] => {
    const known = inside(candidates)
    return known.length === 0 ? [] : [{ name, candidates: known, is_import: true }]
  }
  if (/\.pyi?$/.test(path)) return pythonImports(folder, text).flatMap(([name, all]) => asImport(name, all))
  const [, header, rust, go, shell] = embedded.exec(text) ?? []
  if (header !== undefined && /\.[ch]|\.[ch](?:pp|xx)$/.test(path))
    return asImport(header, [joined(folder, header), joined('include', header), joined('src', header)])
  if (rust !== undefined && path.endsWith('.rs')) return asImport(rust, [joined(folder, rust)])
  if (go !== undefined && path.endsWith('.go')) return asImport(go, [joined(folder, go)])
  if (shell !== undefined && /\.(?:sh|bash|zsh)$/.test(path))
    return asImport(shell, [joined(folder, shell), joined(shell)])
  const name = quotedImport.exec(text)?.[1]
  if (name === undefined) return []
  if (path.endsWith('.rb')) return asImport(name, [joined(folder, `${name}.rb`)])
  if (path.endsWith('.php')) return asImport(name, [joined(folder, name), joined(name)])
  // Without a dot it is a package.
  return /^\.{1,2}\//.test(name) ? asImport(name, scriptPlaces(joined(folder, name))) : []
}

const scriptEndings = ['.ts', '.tsx', '.mts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.vue', '.d.ts']

/** Returns where a script looks for what it imports; the sources of a `.js` are `.ts`. */
function scriptPlaces(place: string): readonly string[] {
  const stem = place.replace(/\.([cm]?)js(x?)$/, '')
  return [
    ...new Set([place, ...[stem, place, `${place}/index`].flatMap((one) => scriptEndings.map((end) => one + end))]),
  ]
}

function pythonImports(folder: string, text: string): readonly (readonly [string, readonly string[]])[] {
  const [, from, names = '', plain] = pythonImport.exec(text) ?? []
  const module = from ?? plain
  if (module === undefined) return []
  const dots = /^\.*/.exec(module)?.[0].length ?? 0
  const parts = module.slice(dots).split('.').filter(Boolean)
  const roots = dots === 0 ? ['', 'src'] : [joined(folder, ...Array.from({ length: dots - 1 }, () => '..'))]
  const places = (more: readonly string[]): readonly string[] =>
    roots.flatMap((root) => {
      const place = joined(root, ...parts, ...more)
      return [`${place}.py`, `${place}/__init__.py`]
    })
  if (parts.length > 0) return [[module, places([])]]
  const imported = names.split(',').flatMap((one) => /^\s*(\w+)/.exec(one)?.[1] ?? [])
  return imported.map((name) => [`${module}${name}`, places([name])] as const)
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Joins parts of a path without `.` and, as far as there is a folder to leave, without `..`. */
function joined(...parts: readonly string[]): string {
  const names: string[] = []
  for (const name of parts.flatMap((part) => part.split('/'))) {
    if (name === '' || name === '.') continue
    if (name === '..' && names.length > 0 && names.at(-1) !== '..') names.pop()
    else names.push(name)
  }
  return names.join('/')
}

/** Returns the paths that lie in the repository, and not among installed packages. */
function inside(paths: readonly string[]): readonly string[] {
  const isOurs = (path: string): boolean => !/^\.\.(?:\/|$)|(?:^|\/)(?:node_modules|\.git|\.env)/.test(path)
  return [...new Set(paths)].filter((path) => path !== '' && isOurs(path))
}
