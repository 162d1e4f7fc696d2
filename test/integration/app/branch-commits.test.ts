import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

const commit = (name: string) => `echo ${name} > ${name}.txt; git add -A; git -c user.name=Ada commit -qm "Add ${name}"`

test.concurrent('lists the commits of a branch, newest first, each with its own change', async () => {
  await using job = await startJob({ files: { 'base.txt': 'base\n' } })
  const { client } = job.running
  const task = await job.task()
  expect((await client.call('tasks.commits', { task_id: task.id })).items).toEqual([])
  const agent = await job.agent(`${commit('one')}; ${commit('two')}; echo loose > loose.txt; echo done`)
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const git = (...args: string[]) => job.repository.git(['-C', path, ...args])
  const { items } = await client.call('tasks.commits', { task_id: task.id })
  expect(items).toEqual([
    {
      id: await git('rev-parse', 'HEAD'),
      subject: 'Add two',
      author: 'Ada',
      is_merge: false,
      authored_at: items[0]?.authored_at,
    },
    {
      id: await git('rev-parse', 'HEAD~1'),
      subject: 'Add one',
      author: 'Ada',
      is_merge: false,
      authored_at: items[1]?.authored_at,
    },
  ])
  expect(Math.abs(Date.parse(items[0]?.authored_at ?? '') - Date.now())).toBeLessThan(120_000)

  const of = async (input: { commit?: string; since_commit?: string; path?: string }) => {
    const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch', ...input })
    return { ...diff, files: diff.files.map((file) => file.path) }
  }
  const [two = '', one = ''] = items.map(({ id }) => id)
  expect(await of({ commit: one.slice(0, 8) })).toMatchObject({
    base: await git('rev-parse', 'HEAD~2'),
    head: one,
    // A decision concerns the whole branch.
    tree: null,
    files: ['one.txt'],
    patch: expect.stringContaining('+one'),
  })
  expect((await of({ commit: two, path: 'one.txt' })).files).toEqual([])
  expect(await of({ since_commit: one })).toMatchObject({ base: one, files: ['loose.txt', 'two.txt'] })
  expect((await of({ since_commit: 'deadbeef' })).files).toEqual(['loose.txt', 'one.txt', 'two.txt'])

  // Other commits don't belong to the branch.
  const other = await job.repository.git(['commit-tree', '-m', 'Elsewhere', 'HEAD^{tree}'])
  for (const name of [other, 'deadbeef']) {
    const refusal = await refused(client.call('tasks.diff', { task_id: task.id, commit: name }))
    expect([refusal.code, refusal.details]).toEqual(['not_found', { resource: 'commit' }])
  }
  expect((await refused(client.call('tasks.diff', { task_id: task.id, commit: 'HEAD' }))).code).toBe(
    'validation_failed',
  )
})

test.concurrent('lists a merge of the base as one commit, without the base’s own', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent(`${commit('one')}; echo done`))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  await job.repository.git(['commit', '-q', '--allow-empty', '-m', 'On the base'])
  await job.repository.git(['-C', path, 'merge', '-q', '--no-edit', '-m', 'Merge main', 'main'])
  const { items } = await client.call('tasks.commits', { task_id: task.id })
  expect(items.map(({ subject, is_merge }) => [subject, is_merge])).toEqual([
    ['Merge main', true],
    ['Add one', false],
  ])
})
