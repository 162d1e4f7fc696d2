import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

/** A task whose committed work waits in review for a person's verdict. */
async function inReview(job: Job) {
  const { client } = job.running
  const { id: user_id } = await client.call('auth.me', {})
  const task = await job.task()
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', user_id })
  const { path } = await job.claim(
    task,
    await job.agent('date +%N > work.txt; git add -A; git commit -qm Work; echo done'),
  )
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  return { client, task_id: task.id, path, head: await headOf(job, path) }
}

const headOf = (job: Job, cwd: string) => job.repository.git(['rev-parse', 'HEAD'], { cwd })
const treeOf = (job: Job, cwd: string) => job.repository.git(['rev-parse', 'HEAD^{tree}'], { cwd })
const reviewsOf = async (job: Job, task_id: string) =>
  (await job.running.client.call('tasks.reviews', { task_id })).items.map((one) => [
    one.attempt_number,
    one.status,
    one.head,
    one.verdicts.map(({ verdict, head_commit }) => [verdict, head_commit]),
  ])

test.concurrent('stores with a verdict the head that it judged', async () => {
  await using job = await startJob()
  const { client, task_id, head } = await inReview(job)
  expect(await reviewsOf(job, task_id)).toEqual([[1, 'running', head, []]])
  await client.call('tasks.verdict', { task_id, verdict: 'pass' })
  expect(await reviewsOf(job, task_id)).toEqual([[1, 'passed', head, [['pass', head]]]])
})

test.concurrent('passes no head that changed since the checks, until it was reviewed again', async () => {
  await using job = await startJob()
  const { client, task_id, path, head } = await inReview(job)
  const later = await job.repository.commit('Slip in', { 'slipped.txt': 'in\n' }, path)
  const refusal = await refused(client.call('tasks.verdict', { task_id, verdict: 'pass' }))
  const tree = await treeOf(job, path)
  expect([refusal.code, refusal.details]).toEqual(['review_not_ready', { tree, files: ['slipped.txt'] }])
  expect(await reviewsOf(job, task_id)).toEqual([[1, 'running', head, []]])
  expect((await client.call('tasks.get', { task_id })).review_passed_at).toBeNull()
  // A rejection counts for any head, and names the one that it saw.
  await client.call('tasks.verdict', { task_id, verdict: 'fail', feedback: 'What slipped in?' })
  await job.running.taskWhere(task_id, (one) => one.review_summary?.attempt_number === 2 && !one.entry_barrier)
  const again = await headOf(job, path)
  await client.call('tasks.verdict', { task_id, verdict: 'pass' })
  expect(await reviewsOf(job, task_id)).toEqual([
    [2, 'passed', again, [['pass', again]]],
    [1, 'failed', later, [['fail', later]]],
  ])
})

test.concurrent('merges no other head after a passed review', async () => {
  await using job = await startJob()
  const { client, task_id, path, head } = await inReview(job)
  const { task } = await client.call('tasks.verdict', { task_id, verdict: 'pass' })
  const main = await headOf(job, job.repository.path)
  await job.repository.commit('Slip in', { 'slipped.txt': 'in\n' }, path)
  const merge = { task_id, status: 'merging', version: task.version }
  const refusal = await refused(client.call('tasks.transition', merge))
  const tree = await treeOf(job, path)
  expect([refusal.code, refusal.details]).toEqual(['review_not_ready', { tree, files: ['slipped.txt'] }])
  expect(await headOf(job, job.repository.path)).toBe(main)
  expect((await client.call('tasks.get', { task_id })).status).toBe('review')
  // Back on the judged head, it may.
  await job.repository.git(['reset', '-q', '--hard', head], { cwd: path })
  expect((await client.call('tasks.transition', merge)).task.status).toBe('done')
})
