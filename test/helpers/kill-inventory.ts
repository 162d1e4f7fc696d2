import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isWork } from './kill-agents.ts'
import type { TestRepository } from './git-repository.ts'

/** Work that was once seen must never be lost. */
export interface Holdings {
  readonly commits: Set<string>
  /** By git's ID of the content: where it was seen. */
  readonly files: Map<string, string>
}

export const noHoldings = (): Holdings => ({ commits: new Set(), files: new Map() })

/**
 * Adds the current content of refs, worktrees and folders. Nothing that the service derived from it counts as work.
 */
export async function addHoldings(held: Holdings, repository: TestRepository, workspaces: string): Promise<void> {
  for (const [id, path] of await filesBelow(workspaces)) held.files.set(id, path)
  const commits = await repository.git(['rev-list', ...(await ends(repository))])
  for (const commit of commits.split('\n')) held.commits.add(commit)
}

/**
 * All refs, and the worktrees. `--all` would include refs that are removed with their worktree, and fails while git
 * creates one, because its HEAD is all zeros then.
 */
async function ends(repository: TestRepository): Promise<readonly string[]> {
  const listed = await repository.git(['worktree', 'list', '--porcelain'])
  const heads = [...listed.matchAll(/^HEAD ([0-9a-f]+)$/gm)].map(([, id = '']) => id)
  return ['--glob=refs/*', ...heads.filter((id) => !/^0+$/.test(id))]
}

/** The work that no worktree, branch or rescue contains any more. */
export async function lostOf(
  { commits, files }: Holdings,
  repository: TestRepository,
  workspaces: string,
): Promise<readonly string[]> {
  // Moving work goes from the disk into a ref, so looking in this order finds it at least once.
  const onDisk = await filesBelow(workspaces)
  const listed = await repository.git(['rev-list', '--objects', ...(await ends(repository))])
  const reachable = new Set(listed.split('\n').map((line) => line.slice(0, 40)))
  return [
    ...[...commits].filter((commit) => !reachable.has(commit)).map((commit) => `commit ${commit}`),
    ...[...files].filter(([id]) => !onDisk.has(id) && !reachable.has(id)).map(([id, path]) => `file ${id} of ${path}`),
  ]
}

/** The agents' complete files on the disk, by git's ID of their content. */
async function filesBelow(root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const folders = [root]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await orNothing(readdir(folder, { withFileTypes: true }), [])) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      if (!entry.isFile()) continue
      const text = await orNothing(readFile(path, 'utf8'), '')
      if (isWork(text)) found.set(blobId(text), path)
    }
  }
  return found
}

function blobId(text: string): string {
  const bytes = Buffer.from(text)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Files and folders come and go during the search. */
async function orNothing<T>(reading: Promise<T>, nothing: T): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return nothing
    throw error
  }
}
