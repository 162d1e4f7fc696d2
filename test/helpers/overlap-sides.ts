import { readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Overlap } from '../../src-shared/contract/overlaps.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { TestRepository } from './git-repository.ts'
import { startJob, type Job } from './job.ts'

/** A file of 40 lines, some of them changed. */
export const lines = (change: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 40 }, (_, number) => `${change[number + 1] ?? `line ${number + 1}`}\n`).join('')

/** The first content of the repository. */
export const files = { 'a.txt': lines(), 'b.txt': lines(), 'old/c.txt': lines(), 'data.bin': '\0one\0' }

export interface Side {
  readonly task: Task
  readonly path: string
}

/** A task that a person works on, with its worktree. */
export async function side(job: Job, title: string, more: Partial<OperationInput<'tasks.create'>> = {}): Promise<Side> {
  const task = await job.task({ title, ...more })
  const { workspace } = await job.running.client.call('tasks.claim', { task_id: task.id })
  return { task, path: workspace?.path ?? '' }
}

export async function startTwo(): Promise<{ job: Job; one: Side; other: Side }> {
  const job = await startJob({ files })
  return { job, one: await side(job, 'One'), other: await side(job, 'Other') }
}

const list = async (job: Job): Promise<readonly Overlap[]> =>
  (await job.running.client.call('overlaps.list', { project_id: job.project.id })).items

/** Waits for the event with these overlaps. */
export async function told(
  job: Job,
  fits: (items: readonly Overlap[]) => boolean,
  ms = 30_000,
): Promise<readonly Overlap[]> {
  if (fits(await list(job))) return await list(job)
  for await (const item of job.running.client.events({}, 0, AbortSignal.timeout(ms))) {
    if (item.kind !== 'event' || item.event.type !== 'overlaps.updated' || !fits(item.event.data.items)) continue
    // It may be an earlier one.
    const items = await list(job)
    if (fits(items)) return items
  }
  throw new Error('The events ended.')
}

export const some = (items: readonly Overlap[]) => items.length > 0
export const none = (items: readonly Overlap[]) => items.length === 0
export const write = (at: Side, name: string, text: string | Buffer) => writeFile(join(at.path, name), text)
export const commit = async (job: Job, { path }: Side) => {
  await job.repository.git(['add', '--all'], { cwd: path })
  await job.repository.git(['commit', '--quiet', '--message', 'Work'], { cwd: path })
}

/** The pairs by the titles' sides, without IDs. */
export const brief = (items: readonly Overlap[]) => items.map(({ kind, files: names }) => [kind, ...names])

/** The paths in git's and the temporary folder, without contents. */
export async function traces({ git, path }: TestRepository): Promise<unknown> {
  const below = async (folder: string) => await readdir(folder, { recursive: true }).catch(() => [])
  const inGit = await below(join(path, '.git'))
  const temporary = (await readdir(tmpdir())).filter((name) => name.startsWith('copse-overlaps-'))
  return {
    refs: await git(['for-each-ref']),
    loose: (await git(['count-objects', '-v'])).split('\n').filter((line) => /^(count|packs|in-pack)/.test(line)),
    locks: inGit.filter((name) => name.endsWith('.lock')),
    files: inGit.filter((name) => !name.endsWith('index')).toSorted(),
    temporary,
  }
}
