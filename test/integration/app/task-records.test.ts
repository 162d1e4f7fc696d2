import { expect, test } from 'vitest'
import { firstScreenParts } from '../../../src-shared/contract/first-screen-parts.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { runApp } from '../../helpers/running-app.ts'

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const inMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const titles = async (job: Job, more: Partial<OperationInput<'tasks.list'>> = {}) => {
  const { items } = await job.running.client.call('tasks.list', { project_id: job.project.id, ...more })
  return items.map((one) => one.title).toSorted()
}

test.concurrent('creates a task in a backlog or initial state, with a priority from 0 to 4', async () => {
  await using job = await startJob()
  const plain = await job.task()
  expect(plain).toMatchObject({ status: 'backlog', priority: 0, labels: [], version: 1, archived: false })
  expect(plain.id).toMatch(version7)
  for (const at of [plain.created_at, plain.updated_at]) expect(at).toMatch(inMilliseconds)
  const queued = await job.task({ status: 'todo', priority: 4, labels: ['ui'] })
  expect(queued).toMatchObject({ status: 'todo', priority: 4, labels: ['ui'] })
  for (const status of ['in_progress', 'review', 'done', 'nowhere']) {
    expect(await refusalOf(job.task({ status })), status).toBe('validation_failed')
  }
  for (const priority of [-1, 5, 1.5]) expect(await refusalOf(job.task({ priority }))).toBe('validation_failed')
})

test.concurrent('fills a new task’s review config from the project, key by key', async () => {
  await using job = await startJob()
  await job.settings({ default_review_config: { ci_steps: ['make check'], review_prompt: 'Be strict.' } })
  const configs = [
    await job.task(),
    await job.task({ review_config: { ci_steps: [] } }),
    await job.task({ review_config: { review_prompt: 'Be kind.' } }),
  ].map((one) => one.review_config)
  expect(configs).toEqual([
    { ci_steps: ['make check'], review_prompt: 'Be strict.' },
    { ci_steps: [], review_prompt: 'Be strict.' },
    { ci_steps: ['make check'], review_prompt: 'Be kind.' },
  ])
})

const titled = (title: string, count: number) => Array.from({ length: count }, (_, index) => `${title} ${index + 1}`)

test.concurrent('sends a board each state’s highest tasks, the last finished, stuck ones and related ones', async () => {
  await using job = await startJob()
  const { client } = job.running
  const make = async (title: string, count: number, status?: string) => {
    const made: Task[] = []
    for (let n = 1; n <= count; n += 1) made.push(await job.task({ title: `${title} ${n}`, ...(status && { status }) }))
    return made
  }
  const [low, lower, child] = await make('Low', 3)
  if (!low || !lower || !child) throw new Error('There are no tasks.')
  await make('High', 31)
  const over = await make('Over', 32, 'todo')
  for (const { id } of over.toReversed()) await client.call('tasks.cancel', { task_id: id })
  const [first] = await make('First', 1, 'todo')
  if (!first) throw new Error('There is no task.')
  await client.call('tasks.add_dependency', { task_id: first.id, depends_on_id: lower.id })
  await client.call('tasks.create', { project_id: job.project.id, parent_id: first.id, title: 'Part' })
  const archived = await job.task({ title: 'Archived' })
  await client.call('tasks.archive', { task_id: archived.id })
  const { items, counts } = await client.call('tasks.board', { project_id: job.project.id })
  expect(counts).toEqual({ backlog: 35, cancelled: 32, todo: 1 })
  const shown = new Set(items.map((task) => task.title))
  expect(shown.size).toBe(items.length)
  const all = ['Part', ...titled('Low', 3), ...titled('High', 31), ...titled('Over', 32), 'First 1', 'Archived']
  const left = ['Low 1', 'Low 3', 'High 1', 'High 2', 'Over 31', 'Over 32', 'Archived']
  expect(all.filter((title) => !shown.has(title))).toEqual(left)
})

test.concurrent('gives what a board shows at first in one answer, as the operations give it, without what is refused', async () => {
  await using job = await startJob()
  await job.agent('true')
  await job.task()
  const { client } = job.running
  const board = { project_id: job.project.id }
  const { ofService, ofProject } = firstScreenParts
  const expected: Record<string, unknown> = {}
  for (const name of ofService) expected[name] = await client.call(name, {})
  for (const name of ofProject) expected[name] = await client.call(name, board)
  expect(await client.call('projects.first_screen', board)).toEqual(expected)

  // Without an account there is nothing to tell of it.
  await using repository = await createTestRepository()
  await using running = await runApp({ unregistered: true })
  const { identity } = running.app
  const local = running.clientWith(identity.localSignIn(identity.createLocalCode()).access_token)
  const { id: project_id } = await local.call('projects.create', { name: 'Alone', repo_path: repository.path })
  const { 'auth.me': _, ...others } = expected
  expect(Object.keys(await local.call('projects.first_screen', { project_id }))).toEqual(Object.keys(others))
})

test.concurrent('lists tasks by state, text, label, assignee and parent, archived ones on request', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('true')
  const parent = await job.task({ title: 'Parent', status: 'todo' })
  await job.task({ title: 'Child', parent_id: parent.id, description: 'The quick brown fox' })
  await job.task({ title: 'Labelled', labels: ['bug', 'ui'] })
  const given = await job.task({ title: 'Given' })
  await client.call('tasks.assign_role', { task_id: given.id, role: 'coder', agent_id: agent.id })
  const old = await job.task({ title: 'Old' })
  await client.call('tasks.archive', { task_id: old.id })
  expect(await titles(job)).toEqual(['Child', 'Given', 'Labelled', 'Parent'])
  expect(await titles(job, { include_archived: true })).toContain('Old')
  expect(await titles(job, { status: 'todo' })).toEqual(['Parent'])
  expect(await titles(job, { q: 'BROWN' })).toEqual(['Child'])
  expect(await titles(job, { label: 'ui' })).toEqual(['Labelled'])
  expect(await titles(job, { assignee: agent.id })).toEqual(['Given'])
  expect(await titles(job, { parent_id: parent.id })).toEqual(['Child'])
})

test.concurrent('pages by 50, or by 1 to 200 on request, until the end', async () => {
  await using job = await startJob()
  const { client } = job.running
  const project_id = job.project.id
  for (let count = 0; count < 53; count++) await job.task({ title: `Task ${count}` })
  const first = await client.call('tasks.list', { project_id })
  expect([first.items.length, first.has_more]).toEqual([50, true])
  const second = await client.call('tasks.list', { project_id, cursor: first.next_cursor ?? '' })
  expect([second.items.length, second.has_more, second.next_cursor]).toEqual([3, false, null])
  const all = await client.call('tasks.list', { project_id, limit: 200 })
  expect([...first.items, ...second.items]).toEqual(all.items)
  for (const limit of [0, 501]) {
    expect(await refused(client.call('tasks.list', { project_id, limit }))).toMatchObject({
      code: 'validation_failed',
      status: 400,
      details: { issues: [{ path: 'limit', message: expect.any(String) as string }] },
    })
  }
})

test.concurrent('edits the editable fields of a task with the version that was read', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const edits = {
    title: 'Better',
    description: 'Said at length',
    labels: ['docs'],
    priority: 3,
    position: 12.5,
    review_config: { ci_steps: ['true'], review_prompt: null },
  }
  const edited = await client.call('tasks.update', { task_id: task.id, version: task.version, ...edits })
  expect(edited).toMatchObject({ ...edits, version: task.version + 1, status: task.status })
  const late = client.call('tasks.update', { task_id: task.id, version: task.version, title: 'Late' })
  expect(await refusalOf(late)).toBe('version_conflict')
  expect(await client.call('tasks.get', { task_id: task.id })).toEqual(edited)
  expect((await client.call('tasks.archive', { task_id: task.id })).task.archived).toBe(true)
  expect((await client.call('tasks.unarchive', { task_id: task.id })).task.archived).toBe(false)
  await client.call('tasks.delete', { task_id: task.id })
  const gone = await refused(client.call('tasks.get', { task_id: task.id }))
  expect([gone.status, gone.code, gone.details]).toEqual([404, 'not_found', { resource: 'task' }])
})
