import { lstat, readFile } from 'node:fs/promises'
import { WorkspaceError } from '../../engine/workspace-port.ts'
import { orNull } from '../file-errors.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { pathBytes, pathText } from './tree-paths.ts'

type Options = Pick<GitOptions, 'signal'>

/**
 * Throws while files of an unfinished merge are not resolved: text with conflict markers, and what can have none
 * (a binary file, a symlink, one that a side deleted), until somebody says with `git add` or `git rm` what it shall be.
 */
export async function refuseUnresolved(cwd: string, { signal }: Options): Promise<void> {
  const { stdout } = await runGit(cwd, ['ls-files', '--unmerged', '-z', '--full-name', ':/'], { signal })
  const stages = new Map<string, { modes: string[]; numbers: string }>()
  for (const field of stdout.toString('latin1').split('\0').filter(Boolean)) {
    const [, mode = '', number = '', key = ''] = /^(\d+) [0-9a-f]+ (\d)\t(.*)$/s.exec(field) ?? []
    const known = stages.get(key) ?? { modes: [], numbers: '' }
    stages.set(key, { modes: [...known.modes, mode], numbers: known.numbers + number })
  }
  const open: string[] = []
  for (const [key, { modes, numbers }] of stages) {
    const isText = numbers.endsWith('23') && modes.every((mode) => mode.startsWith('100'))
    if (!isText || !(await isResolved(pathBytes(cwd, key)))) open.push(pathText(key))
  }
  if (open.length === 0) return
  throw new WorkspaceError(
    'unfinished_merge',
    `A merge in the worktree is unfinished: ${open.slice(0, 20).join(', ')} still ${open.length === 1 ? 'has' : 'have'} conflict markers ` +
      'or nobody said which version stays. Resolve them, "git add" them there, then try again.',
  )
}

async function isResolved(path: Buffer): Promise<boolean> {
  const entry = await orNull(lstat(path))
  if (entry?.isFile() !== true) return false
  const content = await readFile(path)
  return !content.includes(0) && !/^<{7} /m.test(content.toString('latin1'))
}
