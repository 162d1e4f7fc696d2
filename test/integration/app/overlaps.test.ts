import { readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import {
  brief,
  commit,
  files,
  lines,
  none,
  side,
  some,
  startTwo,
  told,
  traces,
  write,
  type Side,
} from '../../helpers/overlap-sides.ts'

const cases: Readonly<
  Record<string, { change: (one: Side, other: Side, job: Job) => Promise<void>; found: readonly string[] }>
> = {
  'uncommitted work in the same lines': {
    change: async (one, other) => {
      await write(one, 'a.txt', lines({ 5: 'mine' }))
      await write(other, 'a.txt', lines({ 5: 'theirs' }))
    },
    found: ['conflict', 'a.txt'],
  },
  'committed work against uncommitted work': {
    change: async (one, other, job) => {
      await write(one, 'a.txt', lines({ 5: 'mine' }))
      await commit(job, one)
      await write(other, 'a.txt', lines({ 5: 'theirs' }))
    },
    found: ['conflict', 'a.txt'],
  },
  'untracked files of the same name': {
    change: async (one, other) => {
      await write(one, 'new "file".txt', 'mine\n')
      await write(other, 'new "file".txt', 'theirs\n')
    },
    found: ['conflict', 'new "file".txt'],
  },
  'a deletion against an edit': {
    change: async (one, other) => {
      await rm(join(one.path, 'a.txt'))
      await write(other, 'a.txt', lines({ 5: 'theirs' }))
    },
    found: ['conflict', 'a.txt'],
  },
  'a rename with an edit against an edit': {
    change: async (one, other) => {
      await rename(join(one.path, 'a.txt'), join(one.path, 'renamed.txt'))
      await write(one, 'renamed.txt', lines({ 5: 'mine' }))
      await write(other, 'a.txt', lines({ 5: 'theirs' }))
    },
    found: ['conflict', 'renamed.txt'],
  },
  'a binary file that both change': {
    change: async (one, other) => {
      await write(one, 'data.bin', Buffer.from('\0two\0'))
      await write(other, 'data.bin', Buffer.from('\0three\0'))
    },
    found: ['conflict', 'data.bin'],
  },
  'symbolic links to two places': {
    change: async (one, other) => {
      await symlink('a.txt', join(one.path, 'link'))
      await symlink('b.txt', join(other.path, 'link'))
    },
    found: ['conflict', 'link'],
  },
  'a symbolic link in the place of a file that the other edits': {
    change: async (one, other) => {
      await rm(join(one.path, 'a.txt'))
      await symlink('b.txt', join(one.path, 'a.txt'))
      await write(other, 'a.txt', lines({ 5: 'theirs' }))
    },
    found: ['conflict', 'a.txt'],
  },
  'a link to a like folder outside in the place of one that the other works in': {
    change: async (one, other, job) => {
      await job.repository.write({ 'beside/c.txt': lines() }, job.repository.beside)
      await rm(join(one.path, 'old'), { recursive: true })
      await symlink(join(job.repository.beside, 'beside'), join(one.path, 'old'))
      await write(other, 'old/c.txt', lines({ 5: 'theirs' }))
    },
    found: ['conflict', 'old', 'old/c.txt'],
  },
  'files too large to be read': {
    change: async (one, other) => {
      await write(one, 'large.bin', '')
      await write(other, 'large.bin', '')
      await truncate(join(one.path, 'large.bin'), 200 * 1024 * 1024)
      await truncate(join(other.path, 'large.bin'), 201 * 1024 * 1024)
    },
    found: ['conflict', 'large.bin'],
  },
  'a file where the other makes a folder': {
    change: async (one, other) => {
      await write(one, 'place', 'mine\n')
      await rm(join(other.path, 'old', 'c.txt'))
      await rename(join(other.path, 'old'), join(other.path, 'place'))
      await write(other, 'place/x.txt', 'theirs\n')
    },
    found: ['conflict', 'place'],
  },
  'lines three apart': {
    change: async (one, other) => {
      await write(one, 'a.txt', lines({ 10: 'mine' }))
      await write(other, 'a.txt', lines({ 13: 'theirs' }))
    },
    found: ['same_lines_nearby', 'a.txt'],
  },
}

for (const [name, { change, found }] of Object.entries(cases)) {
  test(`reports ${name}`, async () => {
    const { job, one, other } = await startTwo()
    await using _ = job
    await change(one, other, job)
    const items = await told(job, (all) => all.some(({ kind }) => kind === found[0]))
    expect(brief(items)).toEqual([found])
    expect(items.map(({ a, b }) => [a, b])).toEqual([[one.task.id, other.task.id].toSorted()])
  })
}

test('reports within 5 s of the second write, on both tasks, and clears when one side is undone', async () => {
  const { job, one, other } = await startTwo()
  await using _ = job
  const { client } = job.running
  await write(one, 'a.txt', lines({ 5: 'mine' }))
  await write(other, 'a.txt', lines({ 5: 'theirs' }))
  const items = await told(job, some, 5_000)
  for await (const item of client.events({}, 0, AbortSignal.timeout(10_000))) {
    if (item.kind !== 'event' || item.event.type !== 'overlaps.updated') continue
    expect(item.event.data).toMatchObject({ project_id: job.project.id, items })
    break
  }
  const overlapsOf = async ({ task }: Side) => (await client.call('tasks.get', { task_id: task.id })).overlaps
  expect(await overlapsOf(one)).toEqual([other.task.id])
  expect(await overlapsOf(other)).toEqual([one.task.id])
  await write(other, 'a.txt', lines())
  await told(job, none, 5_000)
  expect(await overlapsOf(one)).toEqual([])
})

test('does not report distant or equal changes, or a conflict with the base alone', async () => {
  const { job, one, other } = await startTwo()
  await using _ = job
  const third = await side(job, 'Third')
  await write(one, 'a.txt', lines({ 5: 'same' }))
  await write(other, 'a.txt', lines({ 30: 'far' }))
  await write(third, 'a.txt', lines({ 5: 'same' }))
  // The base moves on in the lines of one side only.
  await job.repository.commit('Base', { 'a.txt': lines({ 5: 'base' }) })
  await write(third, 'b.txt', lines({ 1: 'mine' }))
  await write(other, 'b.txt', lines({ 1: 'theirs' }))
  const items = await told(job, some)
  expect(brief(items)).toEqual([['conflict', 'b.txt']])
})

test('clears when a task is cancelled or its worktree is removed', async () => {
  const { job, one, other } = await startTwo()
  await using _ = job
  const { client } = job.running
  const third = await side(job, 'Third')
  for (const [at, text] of [
    [one, 'mine'],
    [other, 'theirs'],
    [third, 'a third'],
  ] as const)
    await write(at, 'a.txt', lines({ 5: text }))
  await told(job, (all) => all.length === 3)
  await client.call('tasks.cancel', { task_id: one.task.id })
  await told(job, (all) => all.length === 1)
  await rm(third.path, { recursive: true, force: true })
  await told(job, none)
})

test('does not compare tasks of different repositories or base branches', async () => {
  const { job, one, other } = await startTwo()
  await using _ = job
  await using elsewhere = await createTestRepository({ files })
  const { client } = job.running
  const [repo] = job.project.repos
  const second = await client.call('repos.add', { project_id: job.project.id, path: elsewhere.path })
  const third = await side(job, 'Elsewhere', { repo_id: second.id })
  const fourth = await side(job, 'Elsewhere too', { repo_id: second.id })
  await job.repository.git(['branch', 'release'])
  await client.call('repos.update', {
    project_id: job.project.id,
    repo_id: repo?.id ?? second.id,
    default_branch: 'release',
  })
  const last = await side(job, 'On release')
  for (const [number, at] of [last, fourth, third, one, other].entries())
    await write(at, 'a.txt', lines({ 5: `change ${number}` }))
  const items = await told(job, (all) => all.length === 2)
  expect(items.map(({ a, b }) => [a, b]).toSorted()).toEqual([pairOf(one, other), pairOf(third, fourth)].toSorted())
})

const pairOf = (one: Side, other: Side): readonly string[] => [one.task.id, other.task.id].toSorted()

test('clears when one of both lands', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const task = await job.task({ title: 'Lands' })
  const change = "sed -i '5s/.*/mine/' a.txt; echo done"
  await job.claim(task, await job.agent(change))
  const other = await side(job, 'Other')
  await write(other, 'a.txt', lines({ 5: 'theirs' }))
  const reviewed = await job.running.taskWhere(task.id, (at) => at.review_passed_at !== null && !at.entry_barrier)
  expect(brief(await told(job, some))).toEqual([['conflict', 'a.txt']])
  expect((await client.call('tasks.get', { task_id: task.id })).overlaps).toEqual([other.task.id])
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: reviewed.version })
  await job.running.taskWhere(task.id, (at) => at.status === 'done')
  await told(job, none)
  for (const task_id of [task.id, other.task.id])
    expect((await client.call('tasks.get', { task_id })).overlaps).toEqual([])
  // The landed work is in the base, so a third task is no longer compared with it.
  const third = await side(job, 'Third')
  await write(third, 'b.txt', lines({ 1: 'mine' }))
  await write(other, 'b.txt', lines({ 1: 'theirs' }))
  const items = await told(job, some)
  expect(brief(items)).toEqual([['conflict', 'b.txt']])
  expect(items.map(({ a, b }) => [a, b])).toEqual([pairOf(other, third)])
})

test('leaves no ref, object, lock or folder behind in the repository', async () => {
  const { job, one, other } = await startTwo()
  await using _ = job
  const before = await traces(job.repository)
  await write(one, 'a.txt', lines({ 5: 'mine' }))
  await write(other, 'a.txt', lines({ 5: 'theirs' }))
  await told(job, some)
  expect(await traces(job.repository)).toEqual(before)
  const { dataDir } = job.running
  job.running = await job.running.restart()
  expect(job.running.dataDir).toBe(dataDir)
  // It is found again from the disk.
  expect(brief(await told(job, some))).toEqual([['conflict', 'a.txt']])
  expect(await readdir(join(dataDir, 'overlaps'))).toHaveLength(1)
  await write(other, 'a.txt', lines())
  await told(job, none)
})

test('tells a working agent once about each conflict, if the project wants it', async () => {
  await using job = await startJob({ files })
  await job.settings({ tell_agents_of_overlaps: true })
  const change = (text: string) =>
    `sed -i '5s/.*/${text}/' a.txt; while [ ! -e ../stop-$SVC_TASK_ID ]; do sleep 0.2; done`
  const [first, second] = [await job.task({ title: 'First' }), await job.task({ title: 'Second' })]
  const one = await job.claim(first, await job.agent(change('mine'), 'One'))
  await job.claim(second, await job.agent(change('theirs'), 'Two'))
  await told(job, some)
  const messages = async (task: Task) =>
    (await job.executions(task.id)).flatMap(({ message }) => (message === undefined ? [] : [message]))
  await job.running.eventually(
    async () => [...(await messages(first)), ...(await messages(second))],
    (all) => all.length === 2,
  )
  const [message = ''] = await messages(first)
  expect(message).toContain(second.ref)
  expect(message).toContain('a.txt')
  // Another write of the same pair, then one more conflict, whose message proves that none came for the write.
  const third = await side(job, 'Third')
  await writeFile(join(one.path, 'a.txt'), lines({ 5: 'mine again' }))
  await write(third, 'a.txt', lines({ 5: 'a third' }))
  await told(job, (all) => all.length === 3)
  await job.running.eventually(
    () => messages(first),
    (all) => all.length === 2,
  )
  expect((await messages(first)).filter((text) => text.includes(second.ref))).toHaveLength(1)
})
