import { lstat, readFile } from 'node:fs/promises'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { orNull } from '../files/file-errors.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { changedPaths, pathBytes, pathText } from './tree-paths.ts'

type Options = Pick<GitOptions, 'signal'>

/**
 * Throws while files of an unfinished merge are unresolved: text with conflict markers, and files that can have none (a
 * binary file, a symlink, one that a side deleted), until `git add` or `git rm` has decided about them.
 */
export async function refuseUnresolved(cwd: string, { signal }: Options): Promise<void> {
  const open = await unresolvedPaths(cwd, { signal })
  if (open.length === 0) return
  throw new WorkspaceError(
    'unfinished_merge',
    `A merge in the worktree is unfinished: ${open.slice(0, 20).join(', ')} still ${open.length === 1 ? 'has' : 'have'} conflict markers ` +
      'or no version was chosen. Resolve them, "git add" them there, then try again.',
  )
}

/** Returns the unresolved files of an unfinished merge, in git's order. */
export async function unresolvedPaths(cwd: string, { signal }: Options): Promise<readonly string[]> {
  const { stdout } = await runGit(cwd, ['ls-files', '--unmerged', '-z', '--full-name', ':/'], { signal })
  const stages = new Map<string, { modes: string[]; numbers: string }>()
  for (const field of stdout.toString('latin1').split('\0').filter(Boolean)) {
    const [, mode = '', number = '', key = ''] = /^(\d+) [0-9a-f]+ (\d)\t(.*)$/s.exec(field) ?? []
    const known = stages.get(key) ?? { modes: [], numbers: '' }
    stages.set(key, { modes: [...known.modes, mode], numbers: known.numbers + number })
  }
  const sizes = await markerSizes(cwd, [...stages.keys()], { signal })
  const open: string[] = []
  for (const [key, { modes, numbers }] of stages) {
    const isText = numbers.endsWith('23') && modes.every((mode) => mode.startsWith('100'))
    if (!isText || !(await isResolved(pathBytes(cwd, key), sizes.get(key)))) open.push(pathText(key))
  }
  return open
}

/**
 * Writes both sides into the index for files that git calls merged although they contain markers, so that they count as
 * conflicting for every reader, including git itself.
 */
export async function markUnresolved(
  cwd: string,
  keys: readonly string[],
  { ours, theirs }: { readonly ours: string; readonly theirs: string },
  { signal }: Options,
): Promise<void> {
  const sides = await Promise.all([
    changedPaths(cwd, theirs, ours, { signal }),
    changedPaths(cwd, ours, theirs, { signal }),
  ])
  const entries = keys.flatMap((key) => [
    `0 ${'0'.repeat(ours.length)}\t${key}\0`,
    ...sides.flatMap((changes, index) =>
      changes.filter((one) => one.key === key).map(({ mode, id }) => `${mode} ${id} ${index + 2}\t${key}\0`),
    ),
  ])
  const input = Buffer.from(entries.join(''), 'latin1')
  await runGit(cwd, ['update-index', '-z', '--index-info'], { signal, input, access: 'write' })
}

/** Git's markers are longer in a file that was merged twice. */
const usualSize = 7

/** Returns the marker lengths of files with an unusual one (the attribute `conflict-marker-size`). */
async function markerSizes(
  cwd: string,
  keys: readonly string[],
  { signal }: Options,
): Promise<ReadonlyMap<string, number>> {
  if (keys.length === 0) return new Map()
  const input = Buffer.from(keys.map((key) => `${key}\0`).join(''), 'latin1')
  const { stdout } = await runGit(cwd, ['check-attr', '-z', '--stdin', 'conflict-marker-size'], { signal, input })
  const fields = stdout.toString('latin1').split('\0')
  const sizes = new Map<string, number>()
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const size = Number(fields[at + 2])
    if (Number.isInteger(size) && size > 0) sizes.set(fields[at] ?? '', size)
  }
  return sizes
}

async function isResolved(path: Buffer, size = usualSize): Promise<boolean> {
  const entry = await orNull(lstat(path))
  if (entry?.isFile() !== true) return false
  const content = await readFile(path)
  return !content.includes(0) && !new RegExp(`^<{${size},} `, 'm').test(content.toString('latin1'))
}
