import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { EventType } from '../../../src-shared/contract/events.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf } from '../../helpers/refusal.ts'

const day = 86_400_000

/** A task whose agent staged some work, left other work uncommitted and failed. */
async function failed(job: Job): Promise<{ task: Task; path: string }> {
  const agent = await job.agent('echo one > staged.txt; git add .; echo two > staged.txt; echo new > new.txt; exit 1')
  const task = await job.task({ title: 'Rescue me' })
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  return { task, path }
}

const reassign = async (job: Job, task: Task, flags: { reset_worktree?: boolean; reset_workspace?: boolean }) => {
  const agent = await job.agent('exit 1', 'Another')
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: agent.id, ...flags })
}

const rescuesOf = async (job: Job, { id: task_id }: Task) =>
  (await job.running.client.call('rescues.of_task', { task_id })).items

test.concurrent('lists what a reset removed, and restores it, including the staged version', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task, path } = await failed(job)
  await reassign(job, task, { reset_worktree: true })
  expect(existsSync(join(path, 'new.txt'))).toBe(false)
  const [rescue] = await rescuesOf(job, task)
  expect(rescue).toMatchObject({
    task_id: task.id,
    reason: 'reset',
    kind: 'uncommitted',
    files: 2,
    submodule: null,
    repo_path: job.repository.path,
  })
  expect((await client.call('rescues.of_project', { project_id: job.project.id })).items).toEqual([rescue])
  const name = { task_id: task.id, timestamp: rescue?.timestamp ?? '' }
  const diff = await client.call('rescues.diff', name)
  expect(diff.files.map((file) => [file.path, file.status, file.viewed])).toEqual([
    ['new.txt', 'added', false],
    ['staged.txt', 'added', false],
  ])
  expect(diff.patch).toContain('+two')
  expect((await client.call('rescues.diff', { ...name, path: 'new.txt' })).files).toHaveLength(1)
  expect(await client.call('rescues.restore', name)).toMatchObject({ to: 'worktree', path, why_branch: null })
  expect(await readFile(join(path, 'staged.txt'), 'utf8')).toBe('two\n')
  expect(await job.repository.git(['show', ':staged.txt'], { cwd: path })).toBe('one')
  expect(await job.repository.git(['status', '--porcelain'], { cwd: path })).toBe('AM staged.txt\n?? new.txt')
  // Existing files conflict with nothing; the rescue stays until a person discards it.
  expect(await client.call('rescues.restore', name)).toMatchObject({ to: 'worktree' })
  await client.call('rescues.delete', name)
  expect(await rescuesOf(job, task)).toEqual([])
  expect(await refusalOf(client.call('rescues.restore', name))).toBe('not_found')
  expect(await refusalOf(client.call('rescues.diff', name))).toBe('not_found')
  expect(await refusalOf(client.call('rescues.delete', name))).toBe('not_found')
})

test.concurrent('restores a rescue as a branch if its files have changed, and overwrites nothing', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task, path } = await failed(job)
  await reassign(job, task, { reset_worktree: true })
  await writeFile(join(path, 'new.txt'), 'somebody else\n')
  const [rescue] = await rescuesOf(job, task)
  const name = { task_id: task.id, timestamp: rescue?.timestamp ?? '' }
  const restored = await client.call('rescues.restore', name)
  expect(restored).toMatchObject({ to: 'branch', path: null, why_branch: 'conflicts' })
  expect(restored.branch).toMatch(/^svc\/rescued-/)
  expect(await readFile(join(path, 'new.txt'), 'utf8')).toBe('somebody else\n')
  expect(await job.repository.git(['show', `${restored.branch}:new.txt`])).toBe('new')
})

test.concurrent('lists rescues of a deleted task in its project, and restores them as a branch', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task } = await failed(job)
  await client.call('tasks.delete', { task_id: task.id })
  expect(await refusalOf(client.call('rescues.of_task', { task_id: task.id }))).toBe('not_found')
  const { items } = await client.call('rescues.of_project', { project_id: job.project.id })
  expect(items).toMatchObject([{ task_id: task.id, reason: 'removal', files: 2 }])
  const name = { project_id: job.project.id, of_task: task.id, timestamp: items[0]?.timestamp ?? '' }
  expect((await client.call('rescues.diff_in_project', name)).files).toHaveLength(2)
  const restored = await client.call('rescues.restore_in_project', name)
  expect(restored).toMatchObject({ to: 'branch', why_branch: 'no_worktree' })
  expect(await job.repository.git(['show', `${restored.branch}:staged.txt`])).toBe('two')
  expect(await job.repository.git(['show', `${restored.branch}^2:staged.txt`])).toBe('one')
  await client.call('rescues.delete_in_project', name)
  expect((await client.call('rescues.of_project', { project_id: job.project.id })).items).toEqual([])
  const { ref } = items[0] ?? {}
  expect(await hear(client, 'rescue.given_up', 0)).toMatchObject({ project_id: job.project.id, task_id: task.id, ref })
})

test.concurrent('restores as a branch while an agent works, and leaves the worktree alone', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { task, path } = await failed(job)
  await reassign(job, task, { reset_worktree: true })
  const busy = await job.agent(beacon.hold('busy', `${wait}; exit 1`), 'Busy')
  await client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: busy.id })
  await job.claim(task, busy)
  await beacon.alive('busy')
  const [rescue] = await rescuesOf(job, task)
  const name = { task_id: task.id, timestamp: rescue?.timestamp ?? '' }
  const restored = await client.call('rescues.restore', name)
  expect(restored).toMatchObject({ to: 'branch', path: null, why_branch: 'busy' })
  expect(existsSync(join(path, 'new.txt'))).toBe(false)
  expect(await job.repository.git(['show', `${restored.branch}:new.txt`])).toBe('new')
  // A second restore reuses the branch.
  expect(await client.call('rescues.restore', name)).toEqual(restored)
})

test.concurrent('lists commits of a discarded branch as such, and restores them as a branch', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ title: 'Discard me' })
  await job.claim(task, await job.agent('echo work > work.txt; git add .; git commit -qm Work; exit 1'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  await reassign(job, task, { reset_workspace: true })
  const [rescue, ...others] = await rescuesOf(job, task)
  expect(rescue).toMatchObject({ reason: 'discard', kind: 'commits', files: 1 })
  expect(others).toEqual([])
  const restored = await client.call('rescues.restore', { task_id: task.id, timestamp: rescue?.timestamp ?? '' })
  expect(restored).toMatchObject({ to: 'branch', why_branch: 'commits' })
  expect(await job.repository.git(['show', `${restored.branch}:work.txt`])).toBe('work')
})

/** The first event of this type; with `since`, also earlier ones. */
async function hear(client: Client, type: EventType, since: number | null = null): Promise<unknown> {
  const stop = new AbortController()
  try {
    for await (const item of client.events({}, since, stop.signal))
      if (item.kind === 'event' && item.event.type === type) return item.event.data
  } finally {
    stop.abort()
  }
  throw new Error('The events ended.')
}

test.concurrent('notifies viewers of a task when a rescue is discarded or restored', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task } = await failed(job)
  await reassign(job, task, { reset_worktree: true })
  const [rescue] = await rescuesOf(job, task)
  const name = { task_id: task.id, timestamp: rescue?.timestamp ?? '' }
  for (const [call, type] of [
    ['rescues.restore', 'workspace.updated'],
    ['rescues.delete', 'rescue.given_up'],
  ] as const) {
    const heard = hear(client, type)
    await client.call(call, name)
    expect(await heard).toMatchObject({ task_id: task.id, project_id: job.project.id })
  }
})

test.concurrent('reports a missing repository instead of its rescues', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task } = await failed(job)
  await reassign(job, task, { reset_worktree: true })
  const project_id = job.project.id
  await rename(job.repository.path, `${job.repository.path}-moved`)
  expect(await refusalOf(client.call('rescues.of_project', { project_id }))).toBe('workspace_failed')
  expect(await refusalOf(client.call('rescues.of_task', { task_id: task.id }))).toBe('workspace_failed')
  await rename(`${job.repository.path}-moved`, job.repository.path)
  expect(await rescuesOf(job, task)).toHaveLength(1)
})

test.concurrent('discards rescues after 30 days, but no younger ones and no other refs', async () => {
  const time = { ms: Date.parse('2026-11-21T09:00:00.000Z') }
  const { log, line } = createLogLines()
  await using job = await startJob({ clock: { now: () => time.ms }, log })
  const { task } = await failed(job)
  await reassign(job, task, { reset_worktree: true })
  const head = await job.repository.git(['rev-parse', 'HEAD'])
  const under = `refs/svc/rescue/${task.id}`
  await job.repository.git(['update-ref', `${under}/20261121T085959999Z`, head])
  await job.repository.git(['update-ref', `${under}/mine`, head])
  const refs = async () =>
    (await job.repository.git(['for-each-ref', '--format=%(refname:lstrip=4)', 'refs/svc/rescue'])).split('\n')
  const swept = (timestamp: string) =>
    line('rescues older than 30 days were given up', (one) => String(one['refs']) === `${under}/${timestamp}`)
  time.ms += 30 * day
  job.running = await job.running.restart()
  await swept('20261121T085959999Z')
  expect(await refs()).toEqual(['20261121T090000000Z', 'mine'])
  time.ms += 1
  job.running = await job.running.restart()
  await swept('20261121T090000000Z')
  expect(await refs()).toEqual(['mine'])
  expect(await hear(job.running.client, 'rescue.given_up', 0)).toMatchObject({
    task_id: task.id,
    ref: `${under}/20261121T085959999Z`,
  })
})
