import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'

const filesOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`f${number}.txt`, `${number}\n`]))

async function reviewAfter(files: number, command: string) {
  await using job = await startJob({ files: filesOf(files) })
  const task = await job.task()
  await job.claim(task, await job.agent(command))
  const { status, review_passed_at } = await job.running.taskWhere(
    task.id,
    (one) => one.status === 'review' && !one.entry_barrier,
  )
  const [review] = (await job.running.client.call('tasks.reviews', { task_id: task.id })).items
  return { status, isPassed: review_passed_at !== null, notes: review?.notes }
}

test.concurrent('says at the review that most files are deleted, and waits for a person', async () => {
  expect(await reviewAfter(21, 'rm f1*.txt; git commit -qam Half; echo x > new.txt')).toEqual({
    status: 'review',
    isPassed: false,
    notes: [{ kind: 'mass_deletion', deleted: 11, of: 21 }],
  })
})

test.concurrent.each([
  ['half of them', 22, 'rm f1*.txt'],
  ['a small tree', 20, 'rm f*.txt'],
  ['files that were moved', 30, 'mkdir new && git mv f*.txt new/'],
])('says nothing of %s', async (_name, files, command) => {
  expect(await reviewAfter(files, command)).toMatchObject({ isPassed: true, notes: [] })
})
