import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

test.concurrent('gives each task a number in its project that is never used again', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { key } = job.project
  expect(key).toMatch(/^[A-Z]{2,5}$/)
  const made = await Promise.all([job.task(), job.task(), job.task()])
  expect(made.map(({ number }) => number).toSorted()).toEqual([1, 2, 3])
  for (const task of made) expect(task.ref).toBe(`${key}-${task.number}`)
  const last = made.find(({ number }) => number === 3)
  await client.call('tasks.delete', { task_id: last?.id ?? '' })
  const next = await job.task()
  expect([next.number, next.ref]).toEqual([4, `${key}-4`])
  const { items } = await client.call('tasks.list', { project_id: job.project.id })
  expect(items.map(({ ref }) => ref)).toContain(`${key}-4`)
})

test.concurrent('finds a task by number, with or without the key of its project', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { id: project_id, key } = job.project
  const [first, second] = [await job.task({ title: 'First' }), await job.task({ title: 'Second' })]
  const third = await job.task({ title: 'Number 2 of three' })
  const found = async (q: string) => {
    const { items } = await client.call('tasks.list', { project_id, q })
    return items.map(({ id }) => id)
  }
  expect(await found(`${key}-2`)).toEqual([second.id])
  expect(await found(`${key.toLowerCase()}-1`)).toEqual([first.id])
  expect(await found('#2')).toEqual([second.id, third.id])
  expect(await found('2')).toEqual([second.id, third.id])
  expect(await found(`id:${key}-1`)).toEqual([first.id])
  expect(await found('ZZZZZ-1')).toEqual([])
  expect(await found('id:ZZZZZ-1')).toEqual([])
  expect(await found(`${key}-99`)).toEqual([])
})

test.concurrent('gives no two projects the same key, and renames the tasks with it', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { id: project_id, key } = job.project
  const task = await job.task()
  const repo_path = job.project.repos[0]?.path ?? ''
  const shop = await client.call('projects.create', { name: 'Shop', repo_path })
  const other = await client.call('projects.create', { name: 'Shop', repo_path })
  const chosen = await client.call('projects.create', { name: 'Shop front', key: 'web', repo_path })
  expect([shop.key, other.key, chosen.key]).toEqual(['SHO', 'SHOP', 'WEB'])

  const taken = await refused(client.call('projects.update', { project_id, key: 'SHO' }))
  expect([taken.code, taken.message]).toEqual([
    'validation_failed',
    expect.stringContaining('Another project has the key SHO.'),
  ])
  const again = await refused(client.call('projects.create', { name: 'X', key: 'SHO', repo_path }))
  expect(again.code).toBe('validation_failed')
  for (const wrong of ['S', 'TOOLONG', 'A1', '']) {
    expect((await refused(client.call('projects.update', { project_id, key: wrong }))).code, wrong).toBe(
      'validation_failed',
    )
  }
  expect((await client.call('projects.get', { project_id })).key).toBe(key)
  // Its own key is not another project's.
  expect((await client.call('projects.update', { project_id, key })).key).toBe(key)
  expect((await client.call('projects.update', { project_id, key: 'job' })).key).toBe('JOB')
  expect((await client.call('tasks.get', { task_id: task.id })).ref).toBe('JOB-1')
})

test.concurrent('keeps the key of a renamed project', async () => {
  await using job = await startJob()
  const { id: project_id, key } = job.project
  const renamed = await job.running.client.call('projects.update', { project_id, name: 'Something else' })
  expect(renamed.key).toBe(key)
})
