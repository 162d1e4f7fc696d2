import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused as refusalIn } from '../../helpers/refusal.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'

type Items = OperationInput<'tasks.create_many'>['items']

const createMany = async (job: Job, items: Items) =>
  (await job.running.client.call('tasks.create_many', { project_id: job.project.id, items })).items
const listed = async (job: Job) =>
  (await job.running.client.call('tasks.list', { project_id: job.project.id, limit: 200 })).items

test.concurrent('many tasks are created as each would be alone, in their order, and announced one by one', async () => {
  await using job = await startJob()
  const { client } = job.running
  const alone = await job.task({ title: 'Alone', labels: ['search'], priority: 2 })
  const [first, second, third] = await createMany(job, [
    { title: 'First', labels: ['search'], priority: 2, key: 'a' },
    { title: 'Second', status: 'todo', depends_on: ['c', alone.id] },
    { title: 'Third', key: 'c', depends_on: ['a'], parent_id: alone.id },
  ])
  const { id: _id, number, position: _position, ref: _ref, created_at: _c, updated_at: _u, ...usual } = alone
  expect(first).toMatchObject({ ...usual, title: 'First', number: number + 1 })
  expect(second).toMatchObject({ number: number + 2, status: 'todo', dependencies: [third?.id, alone.id].toSorted() })
  expect(third).toMatchObject({ number: number + 3, parent_id: alone.id, dependencies: [first?.id] })
  expect(await listed(job)).toEqual([alone, first, second, third])
  const told: unknown[] = []
  const stop = new AbortController()
  for await (const item of client.events({}, 0, AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]))) {
    if (item.kind === 'event' && item.event.type === 'task.created') told.push(item.event.data.task)
    if (told.length === 4) stop.abort()
  }
  expect(told).toEqual([alone, first, second, third])
})

test.concurrent('if one is refused none is created, and the refusal says which', async () => {
  await using job = await startJob()
  await using other = await startJob()
  const elsewhere = await other.task()
  const good = { title: 'Good', key: 'good' }
  const refused = async (...items: Items) => {
    const { code, message, details } = await refusalIn(createMany(job, items))
    const issues = details?.['issues'] as readonly { path: string }[] | undefined
    return [code, details?.['index'], issues?.map(({ path }) => path), message]
  }
  expect(await refused(good, { title: 'Bad', status: 'done' })).toEqual([
    'validation_failed',
    1,
    ['items.1.status'],
    expect.stringMatching(/^Task 2, “Bad”: A new task starts/),
  ])
  expect((await refused(good, { title: '' })).slice(0, 3)).toEqual(['validation_failed', undefined, ['items.1.title']])
  expect((await refused(good, good)).slice(0, 3)).toEqual(['validation_failed', 1, ['items.1.key']])
  expect((await refused({ title: 'Bad', depends_on: ['gone'] })).slice(0, 3)).toEqual([
    'validation_failed',
    0,
    ['items.0.depends_on'],
  ])
  expect((await refused(good, { title: 'Bad', depends_on: [elsewhere.id] })).slice(0, 2)).toEqual(['not_found', 1])
  expect((await refused({ ...good, depends_on: ['good'] })).slice(0, 2)).toEqual(['dependency_cycle', 0])
  const ring = [
    { title: 'One', key: '1', depends_on: ['2'] },
    { title: 'Two', key: '2', depends_on: ['3'] },
    { title: 'Three', key: '3', depends_on: ['1'] },
  ]
  expect(await refused(good, ...ring)).toEqual([
    'dependency_cycle',
    1,
    undefined,
    expect.stringContaining('“One” → “Two” → “Three” → “One”'),
  ])
  expect(await listed(job)).toEqual([])
})

test.concurrent('a thousand tasks that wait in a chain are created at once', async () => {
  await using job = await startJob()
  const items = Array.from({ length: 1_000 }, (_, number) => ({
    title: `Task ${number}`,
    key: `${number}`,
    ...(number > 0 && { depends_on: [`${number - 1}`] }),
  }))
  const tasks = await createMany(job, items)
  expect(tasks.map(({ title }) => title)).toEqual(items.map(({ title }) => title))
  expect(tasks[999]?.dependencies).toEqual([tasks[998]?.id])
  expect(await refusalIn(createMany(job, [...items, { title: 'One more' }]))).toMatchObject({
    code: 'validation_failed',
  })
})
