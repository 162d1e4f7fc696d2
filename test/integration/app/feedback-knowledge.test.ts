import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'

/** Saves every prompt as `prompt-<n>.txt` with the knowledge file beside it, works, then does what `end` says. */
const keeping = (end: string) =>
  `n=$(ls prompt-* 2>/dev/null | wc -l | tr -d " "); cat > "prompt-$n.txt"; ` +
  `cp "$SVC_KNOWLEDGE_FILE" "known-$n.txt" || true; echo done; ${end}`

const known = 'The database listens on port 5499.'
const heading = '## What is known about this project'

async function startKnowing(end: string): Promise<{ job: Job; task_id: string; path: string }> {
  const job = await startJob()
  const { id: project_id } = job.project
  await job.running.client.call('knowledge.create', { project_id, title: 'Postgres', body: known })
  const task = await job.task({ title: 'Connect to the database' })
  const { path } = await job.claim(task, await job.agent(keeping(end)))
  return { job, task_id: task.id, path }
}

test.concurrent('knowledge-inject adds knowledge to feedback in place, and to the run that repeats it', async () => {
  const { job, task_id, path } = await startKnowing('test "$n" = 2')
  await using _ = job
  const { client } = job.running
  const failed = (n: number) =>
    job.running.eventually(
      () => job.executions(task_id),
      (all) => all.filter((one) => one.status === 'failed').length === n,
    )
  await failed(1)
  await client.call('comments.create', { task_id, body: 'Close the connection.' })
  await client.call('tasks.feedback', { task_id, message: 'Nearly there.' })
  await failed(2)
  await client.call('tasks.recover', { task_id, action: 'retry_execution' })
  await job.running.taskWhere(task_id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  for (const n of [1, 2]) {
    const prompt = await readFile(`${path}/prompt-${n}.txt`, 'utf8')
    for (const part of ['Nearly there.', 'Close the connection.', known]) expect(prompt).toContain(part)
    expect(prompt.split(heading)).toHaveLength(2)
    expect(await readFile(`${path}/known-${n}.txt`, 'utf8')).toContain(known)
  }
})

test.concurrent('knowledge-inject adds knowledge to feedback that sends the work back', async () => {
  const { job, task_id, path } = await startKnowing('true')
  await using _ = job
  const passed = () => job.running.taskWhere(task_id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await passed()
  await job.running.client.call('tasks.feedback', { task_id, message: 'Close the connection.' })
  await job.running.taskWhere(task_id, (one) => one.review_summary?.attempt_number === 2)
  const prompt = await readFile(`${path}/prompt-1.txt`, 'utf8')
  expect(prompt).toContain('Close the connection.')
  expect(prompt.split(heading)).toHaveLength(2)
  expect(prompt).toContain(known)
})
