import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { refused } from '../../helpers/refusal.ts'

const landingWith = (step: string) => ({
  landing: { mode: 'serial' as const, steps: [step], max_parallel: 2, retry_failed: false },
})
const mergeOf = (task: Task, respond_async = true) => ({
  task_id: task.id,
  status: 'merging',
  version: task.version,
  respond_async,
})

/** A task whose merge is being tested and does not end by itself. */
async function startTested(job: Job): Promise<Task> {
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent('echo 1 > one.txt; echo done'))
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.settings(landingWith('tail -f /dev/null'))
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  expect(await client.call('tasks.transition', mergeOf(reviewed))).toMatchObject({ landing_deferred: true })
  return reviewed
}

test.each<[string, (job: Job, task: Task) => Promise<unknown>]>([
  ['archived', (job, { id }) => job.running.client.call('tasks.archive', { task_id: id })],
  ['deleted', (job, { id }) => job.running.client.call('tasks.delete', { task_id: id })],
  [
    'reassigned',
    async (job, { id }) => {
      const { id: agent_id } = await job.agent('true', 'Another')
      await job.running.client.call('tasks.assign_role', { task_id: id, role: 'coder', agent_id })
    },
  ],
])('takes a task that is %s out of the lane, and moves nothing of it', async (_how, leave) => {
  await using job = await startJob()
  const task = await startTested(job)
  const main = await job.repository.git(['rev-parse', 'main'])
  await leave(job, task)
  const { items } = await job.running.client.call('landing.list', { project_id: job.project.id })
  expect(items[0]?.tasks).toEqual([])
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(main)
  expect(await job.repository.git(['worktree', 'list', '--porcelain'])).not.toContain('.scratch')
})

test('returns a task whose base checkout is in the way, still approved, and tells the caller', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent('echo theirs > shared.txt; echo done'))
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  // The person writes while the merge is tested.
  const file = join(job.repository.path, 'shared.txt')
  await job.settings(landingWith(`echo mine > ${file}`))
  await job.repository.commit('other', { 'other.txt': 'x\n' })
  expect(await refused(client.call('tasks.transition', mergeOf(reviewed, false)))).toMatchObject({
    code: 'merge_target_dirty',
    details: { files: ['shared.txt'] },
  })
  const back = await client.call('tasks.get', { task_id: task.id })
  expect(back).toMatchObject({ status: 'review', error_annotation: { files: ['shared.txt'] } })
  expect(back.review_passed_at).not.toBeNull()
  expect((await job.transitions(task.id)).some(({ rejection }) => rejection)).toBe(false)
  await job.repository.git(['checkout', '-q', '--', 'shared.txt'])
  await job.settings({ landing: { ...landingWith('').landing, steps: [] } })
  expect((await client.call('tasks.transition', mergeOf(back, false))).landing?.result).toBe('landed')
})

test('leaves the base in place when killed during a test, and lands the task after the restart', async () => {
  await using repository = await createTestRepository()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-landing-'))
  const [go, ran] = [join(repository.beside, 'go'), join(repository.beside, 'ran')]
  const scratch = join(dataDir, 'workspaces', '.scratch')
  try {
    const killed = await startKillableApp(dataDir)
    const { client } = killed
    const project = await client.call('projects.create', { name: 'Job', repo_path: repository.path })
    const config = { command: 'echo 1 > one.txt; echo done' }
    const agent = await client.call('agents.create', { name: 'Scripted', executor: 'command', config })
    const task = await client.call('tasks.create', { project_id: project.id, title: 'A task' })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const read = () => client.call('tasks.get', { task_id: task.id })
    const reviewed = await killed.eventually(read, (one) => one.review_passed_at !== null && !one.entry_barrier)
    const step = `touch ${ran}; [ -e ${go} ] || exec tail -f /dev/null`
    await client.call('projects.update_settings', { project_id: project.id, ...landingWith(step) })
    const main = await repository.commit('theirs', { 'theirs.txt': 'x\n' })
    await client.call('tasks.transition', mergeOf(reviewed))
    await expect.poll(() => existsSync(ran), { timeout: 100_000 }).toBe(true)
    expect(await readdir(scratch)).not.toEqual([])
    await killed.kill()
    expect(await repository.git(['rev-parse', 'main'])).toBe(main)

    await writeFile(go, '')
    await using started = await startKillableApp(dataDir)
    const now = () => started.client.call('tasks.get', { task_id: task.id })
    await started.eventually(now, (one) => one.status === 'done')
    expect(await repository.git(['show', 'main:one.txt'])).toBe('1')
    expect(await repository.git(['rev-list', '--count', '--first-parent', `${main}..main`])).toBe('1')
    expect(await readdir(scratch)).toEqual([])
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})
