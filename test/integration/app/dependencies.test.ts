import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { present } from '../../helpers/present.ts'

const add = (job: Job, task: Task, other: Task) =>
  job.running.client.call('tasks.add_dependency', { task_id: task.id, depends_on_id: other.id })
const listed = async (job: Job, task: Task) =>
  (await job.running.client.call('tasks.dependencies', { task_id: task.id })).items

/** The default workflow with a merge that never ends by itself. */
const slowMerge = (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) => (state.name === 'merging' ? { ...state, hooks: {} } : state)),
})

test.concurrent('returns a dependency as it is listed, and adds it once', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [first, second] = [await job.task({ title: 'First' }), await job.task({ title: 'Second' })]
  const item = { id: first.id, title: 'First', status: 'backlog', satisfied: false }
  expect(await add(job, second, first)).toEqual(item)
  const after = await client.call('tasks.get', { task_id: second.id })
  expect(after.dependencies).toEqual([first.id])
  expect(await add(job, second, first)).toEqual(item)
  expect(await listed(job, second)).toEqual([item])
  // Nothing changed, so nothing was emitted.
  expect(await client.call('tasks.get', { task_id: second.id })).toEqual(after)
})

test.concurrent('sends an event for each added or removed dependency', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [first, second] = [await job.task(), await job.task()]
  const changes: (readonly string[])[] = []
  const stop = new AbortController()
  const heard = (async () => {
    for await (const item of client.events({}, 0, AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]))) {
      if (item.kind !== 'event' || item.event.type !== 'task.updated') continue
      changes.push(item.event.data.task.dependencies)
      if (changes.length === 2) stop.abort()
    }
  })()
  await add(job, second, first)
  await client.call('tasks.remove_dependency', { task_id: second.id, depends_on_id: first.id })
  await heard
  expect(changes).toEqual([[first.id], []])
  const again = client.call('tasks.remove_dependency', { task_id: second.id, depends_on_id: first.id })
  expect((await refused(again)).details).toEqual({ resource: 'dependency' })
})

test.concurrent('dependency_cycle: names the circle, and refuses a task that waits for itself', async () => {
  await using job = await startJob()
  const [a, b, c] = [await job.task(), await job.task(), await job.task()]
  await add(job, a, b)
  await add(job, b, c)
  const refusal = await refused(add(job, c, a))
  expect([refusal.code, refusal.status, refusal.details]).toEqual([
    'dependency_cycle',
    409,
    { path: [c.id, a.id, b.id, c.id] },
  ])
  expect((await refused(add(job, a, a))).details).toEqual({ path: [a.id, a.id] })
  expect(await listed(job, c)).toEqual([])
})

test.concurrent('refuses one of several simultaneous dependencies that close a circle', async () => {
  await using job = await startJob()
  const tasks = await Promise.all(Array.from({ length: 6 }, () => job.task()))
  const pairs = tasks.map((task, index) => [task, tasks[(index + 1) % tasks.length] ?? task] as const)
  const answers = await Promise.allSettled(pairs.map(([task, other]) => add(job, task, other)))
  const codes = answers.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []))
  expect(codes).toEqual(['dependency_cycle'])
})

test.concurrent('cross_project_dependency: refuses tasks of other projects', async () => {
  await using job = await startJob()
  await using other = await createTestRepository()
  const { client } = job.running
  const elsewhere = await client.call('projects.create', { name: 'Elsewhere', repo_path: other.path })
  const far = await client.call('tasks.create', { project_id: elsewhere.id, title: 'Far' })
  const task = await job.task()
  const refusal = await refused(add(job, task, far))
  expect([refusal.code, refusal.status]).toEqual(['cross_project_dependency', 400])
  const unknown = '01990000-0000-7000-8000-00000000ffff'
  const missing = await refused(client.call('tasks.add_dependency', { task_id: task.id, depends_on_id: unknown }))
  expect([missing.code, missing.details]).toEqual(['not_found', { resource: 'task' }])
})

test.concurrent('dependency_gate: makes others wait for done, and lets the context holder continue from review', async () => {
  await using job = await startJob()
  const { client } = job.running
  const holder = await job.agent('echo one > "$SVC_TASK_ID.txt"; echo done', 'Holder')
  const other = await job.agent('echo two > "$SVC_TASK_ID.txt"; echo done', 'Other')
  const first = await job.task({ title: 'First' })
  const [second, third] = [await job.task(), await job.task()]
  await add(job, second, first)
  await add(job, third, first)
  const early = await refused(job.claim(second, holder))
  expect([early.code, early.status, early.details]).toEqual(['dependency_gate', 409, { depends_on: [first.id] }])
  await job.claim(first, holder)
  const inReview = await job.running.taskWhere(first.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(inReview.status).toBe('review')
  expect(await refusalOf(job.claim(second, other))).toBe('dependency_gate')
  expect(await refusalOf(client.call('tasks.claim', { task_id: second.id }))).toBe('dependency_gate')
  expect((await job.claim(second, holder)).task.status).toBe('in_progress')
  expect(await listed(job, third)).toMatchObject([{ status: 'review', satisfied: false }])
  const { version } = inReview
  expect((await client.call('tasks.transition', { task_id: first.id, status: 'merging', version })).task.status).toBe(
    'done',
  )
  expect(await listed(job, third)).toMatchObject([{ status: 'done', satisfied: true }])
  expect((await job.claim(third, other)).task.status).toBe('in_progress')
})

test.concurrent('dependency_gate: counts a person who executed it as context holder, but no agent of theirs', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo one > one.txt; echo done')
  const [first, second] = [await job.task(), await job.task()]
  await add(job, second, first)
  const { execution } = await client.call('tasks.claim', { task_id: first.id })
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: present(execution).id }),
    ({ status }) => status === 'running',
  )
  await client.call('executions.finish', { execution_id: present(execution).id, status: 'succeeded' })
  await job.running.taskWhere(first.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await refusalOf(job.claim(second, agent))).toBe('dependency_gate')
  expect((await client.call('tasks.claim', { task_id: second.id })).task.status).toBe('in_progress')
})

test.concurrent('dependency_gate: lets the context holder continue while the dependency is being merged', async () => {
  await using job = await startJob({ workflow: slowMerge })
  const { client } = job.running
  const holder = await job.agent('echo one > "$SVC_TASK_ID.txt"; echo done', 'Holder')
  const other = await job.agent('echo two > "$SVC_TASK_ID.txt"; echo done', 'Other')
  const [first, second] = [await job.task(), await job.task()]
  await add(job, second, first)
  await job.claim(first, holder)
  const { version } = await job.running.taskWhere(
    first.id,
    (one) => one.review_passed_at !== null && !one.entry_barrier,
  )
  const merging = await client.call('tasks.transition', { task_id: first.id, status: 'merging', version })
  expect(merging.task.status).toBe('merging')
  expect(await refusalOf(job.claim(second, other))).toBe('dependency_gate')
  expect((await job.claim(second, holder)).task.status).toBe('in_progress')
})

test.concurrent('dependency_gate: does not count a cancelled dependency as done, until it is removed', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo one > one.txt; echo done')
  const [first, second] = [await job.task(), await job.task()]
  await add(job, second, first)
  await client.call('tasks.cancel', { task_id: first.id })
  expect(await listed(job, second)).toMatchObject([{ status: 'cancelled', satisfied: false }])
  expect(await refusalOf(job.claim(second, agent))).toBe('dependency_gate')
  await client.call('tasks.remove_dependency', { task_id: second.id, depends_on_id: first.id })
  expect((await job.claim(second, agent)).task.status).toBe('in_progress')
})
