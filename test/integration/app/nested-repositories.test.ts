import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

/** An agent that clones or creates a repository in its worktree and works there, as careless tools do. */
const nest = (remote: boolean) =>
  [
    'git init -q -b main tool && cd tool && git config user.name a && git config user.email a@b.c',
    'echo work > work.txt && git add -A && git commit -qm Inside && echo more > more.txt',
    ...(remote ? ['git remote add origin https://example.invalid/tool.git'] : []),
    'cd .. && echo done',
  ].join(' && ')

const submit = async (job: Job, remote: boolean, more: object = {}) => {
  const task = await job.task({ title: 'Nest', ...more })
  const { path } = await job.claim(task, await job.agent(nest(remote)))
  return { task, path }
}
const passed = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.review_passed_at !== null && !one.entry_barrier)
const held = (job: Job, task_id: string, type = 'nested_repository') =>
  job.running.taskWhere(task_id, (one) => one.error_annotation?.type === type)
const rescues = (job: Job) => job.repository.git(['for-each-ref', '--format=%(refname)', 'refs/svc/rescue'])

async function merge(job: Job, task_id: string): Promise<string> {
  const ready = await passed(job, task_id)
  const request = { task_id: ready.id, status: 'merging', version: ready.version }
  return (await job.running.client.call('tasks.transition', request)).task.status
}

test.concurrent('absorbs a nested repository without a remote before the checks, and merges it', async () => {
  await using job = await startJob()
  const ci_steps = ['test ! -e tool/.git && cat tool/work.txt tool/more.txt']
  const { task } = await submit(job, false, { review_config: { ci_steps } })
  const ready = await passed(job, task.id)
  const { files } = await job.running.client.call('tasks.diff', { task_id: ready.id, scope: 'branch' })
  expect(files.map(({ path }) => path)).toEqual(['tool/more.txt', 'tool/work.txt'])
  expect(await merge(job, task.id)).toBe('done')
  expect(await job.repository.git(['show', 'main:tool/work.txt'])).toBe('work')
  expect(await job.repository.git(['show', 'main:tool/more.txt'])).toBe('more')
  expect(await rescues(job)).toContain(task.id)
})

test.concurrent('holds the task at the gate for one with a remote until a person takes its files', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task } = await submit(job, true, { review_config: { ci_steps: ['cat tool/more.txt'] } })
  const waiting = await held(job, task.id)
  expect(waiting).toMatchObject({ status: 'review', entry_barrier: true })
  expect(waiting.error_annotation).toMatchObject({
    folders: ['tool'],
    recovery_actions: ['absorb_nested', 'ignore_nested'],
  })
  const [review] = (await client.call('tasks.reviews', { task_id: task.id })).items
  expect(review).toMatchObject({ status: 'pending', step_results: [] })
  // Nothing was rejected, and nothing is merged yet.
  expect((await job.transitions(task.id)).some(({ rejection }) => rejection)).toBe(false)
  const move = { task_id: task.id, status: 'merging', version: waiting.version }
  const refusal = await refused(client.call('tasks.transition', move))
  expect([refusal.code, refusal.message]).toEqual(['entry_barrier', waiting.error_annotation?.message])
  const { files } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(files.map(({ path }) => path)).toEqual(['tool/more.txt', 'tool/work.txt'])

  await client.call('tasks.recover', { task_id: task.id, action: 'absorb_nested' })
  expect(await merge(job, task.id)).toBe('done')
  expect(await job.repository.git(['show', 'main:tool/more.txt'])).toBe('more')
})

test.concurrent('keeps one that a person leaves out as a rescue, unmerged', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ nested_repositories: 'hold' })
  const { task, path } = await submit(job, false)
  await held(job, task.id)
  expect((await client.call('tasks.get', { task_id: task.id })).review_passed_at).toBeNull()
  await client.call('tasks.recover', { task_id: task.id, action: 'ignore_nested' })
  await passed(job, task.id)
  expect(existsSync(join(path, 'tool'))).toBe(false)
  expect((await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })).files).toEqual([])
  const kept = (await rescues(job)).split('\n')
  const shown = await Promise.all(kept.map((ref) => job.repository.git(['ls-tree', '-r', '--name-only', ref])))
  expect(shown.join('\n')).toContain('more.txt')
  expect(await merge(job, task.id)).toBe('done')
  expect(await job.repository.git(['ls-tree', '-r', '--name-only', 'main'])).not.toContain('tool')
})

test.concurrent('takes the files at the merge where no gate asks, or refuses it until it is decided', async () => {
  await using job = await startJob({
    workflow: (standard) => ({
      ...standard,
      states: standard.states.map((state) => {
        if (state.name === 'review') return { ...state, hooks: {} }
        return state
      }),
    }),
  })
  const { client } = job.running
  const { task } = await submit(job, true)
  const ready = await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const move = () => client.call('tasks.transition', { task_id: ready.id, status: 'merging', version: ready.version })
  expect(await refusalOf(move())).toBe('review_not_ready')
  await job.settings({ nested_repositories: 'absorb' })
  expect((await move()).task.status).toBe('done')
  expect(await job.repository.git(['show', 'main:tool/more.txt'])).toBe('more')
})

test.concurrent('refuses the merge of a submodule commit that no remote has', async () => {
  await using job = await startJob()
  const { client } = job.running
  const library = join(job.repository.beside, 'library')
  await job.repository.git(['init', '-q', '-b', 'main', library])
  await job.repository.commit('Library', { 'lib.txt': 'l\n' }, library)
  const allow = 'git -c protocol.file.allow=always'
  await job.repository.git(['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'lib'])
  await job.repository.commit('Use it', {})
  const own =
    'git config user.name a && git config user.email a@b.c && echo own > own.txt && git add -A && git commit -qm Own'
  const agent = await job.agent(`${allow} submodule update -q --init && cd lib && ${own} && cd .. && echo done`)
  const task = await job.task({ title: 'Go ahead' })
  const { path } = await job.claim(task, agent)
  const waiting = await held(job, task.id, 'submodule_not_pushed')
  expect(waiting.error_annotation).toMatchObject({ folders: ['lib'], recovery_actions: ['retry_hook'] })
  await job.repository.git(['push', '-q', 'origin', 'HEAD:refs/heads/own'], { cwd: join(path, 'lib') })
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_hook' })
  expect(await merge(job, task.id)).toBe('done')
})
