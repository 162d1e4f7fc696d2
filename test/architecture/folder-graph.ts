import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import ts from 'typescript'
import { projectRoot } from './project-copy.ts'

/** Every import between the project's own files, types included. */
export function importsOfSources(): ReadonlyMap<string, readonly string[]> {
  const listed = execFileSync('git', ['ls-files', '-z', 'src-main', 'src-shared', 'src-renderer'], {
    cwd: projectRoot,
    encoding: 'utf8',
  })
  const files = listed.split('\0').filter((file) => /\.(ts|vue)$/.test(file) && existsSync(join(projectRoot, file)))
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(scriptOf(file, readFileSync(join(projectRoot, file), 'utf8')))
      const imported = importedFiles.map(({ fileName }) => posix.join(dirname(file), fileName))
      return [file, imported.filter((path) => known.has(path))]
    }),
  )
}

function scriptOf(file: string, text: string): string {
  if (!file.endsWith('.vue')) return text
  return [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map((script) => script[1]).join('\n')
}

/** Returns the folder of a file; files beside the capabilities (entries, `compose.ts`) count as their own. */
function folderOf(file: string): string {
  const folder = dirname(file)
  return folder.includes('/') ? folder : file
}

/** Returns folders that import each other in a circle. A folder and its subfolders count as one. */
export function folderCycles(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const edges = new Map<string, Set<string>>()
  for (const [file, imported] of imports) {
    const from = folderOf(file)
    const targets = edges.get(from) ?? new Set()
    edges.set(from, targets)
    for (const path of imported) {
      const to = folderOf(path)
      if (!isWithin(from, to) && !isWithin(to, from)) targets.add(to)
    }
  }
  return circles(edges)
}

function isWithin(folder: string, above: string): boolean {
  return folder === above || folder.startsWith(`${above}/`)
}

/** Removes, repeatedly, folders that import nothing or that nothing imports. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const left = new Map([...edges].map(([from, to]) => [from, new Set(to)]))
  let found = true
  while (found) {
    found = false
    const imported = new Set([...left.values()].flatMap((to) => [...to]))
    for (const [from, to] of left) {
      if (to.size > 0 && imported.has(from)) continue
      left.delete(from)
      for (const other of left.values()) other.delete(from)
      found = true
    }
    for (const to of left.values()) for (const path of to) if (!left.has(path)) to.delete(path)
  }
  return [...left].map(([from, to]) => [from, ...to])
}
