import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'

test('has the objects of merged work itself, wherever a run put them', async () => {
  await using job = await startJob()
  const elsewhere = join(job.repository.beside, 'elsewhere')
  const agent = await job.agent(`
    common=$(git rev-parse --path-format=absolute --git-common-dir)
    mkdir -p ${elsewhere}
    echo work > work.txt
    export GIT_OBJECT_DIRECTORY=${elsewhere} GIT_ALTERNATE_OBJECT_DIRECTORIES=$common/objects
    git add work.txt && git commit -q -m work
    echo ${elsewhere} > $common/objects/info/alternates`)
  const task = await job.task()
  await job.claim(task, agent)
  const { client } = job.running
  const noted = await job.running.eventually(
    () => client.call('tasks.reviews', { task_id: task.id }),
    ({ items }) => items.at(-1)?.notes.some(({ kind }) => kind === 'repository_changed') === true,
  )
  expect(noted.items.at(-1)?.status).toBe('running')
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'review' && !entry_barrier)
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' })
  const { version } = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const merged = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(merged.task.status).toBe('done')
  await rm(elsewhere, { recursive: true })
  expect(await job.repository.git(['show', 'main:work.txt'])).toBe('work')
  expect(await job.repository.git(['log', '--format=%s', '-1', 'main'])).not.toBe('')
})
