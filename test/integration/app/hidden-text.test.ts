import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'

const reviewOf = async (job: Job, task_id: string) =>
  present((await job.running.client.call('tasks.reviews', { task_id })).items[0])

async function worked(job: Job, command: string) {
  const task = await job.task({ title: 'Hide' })
  await job.claim(task, await job.agent(`${command}; echo done`))
  return await job.running.taskWhere(task.id, (one) => one.review_summary !== null && !one.entry_barrier)
}

// More than the part in which git itself looks for a NUL, so that only few bytes in a hundred are one.
const long = `node -e "process.stdout.write('const line = 1\\n'.repeat(100))"`

test.concurrent('shows text that a NUL byte would hide from a diff', async () => {
  await using job = await startJob({ files: { 'a.py': 'print(1)\n', 'README.md': 'r\n' } })
  const task = await worked(job, `(${long}; printf 'evil()\\0\\n') > a.js; (${long}; printf 'evil()\\0') > a.py`)
  const { files, patch } = await job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(files.map(({ path, binary }) => [path, binary])).toEqual([
    ['a.js', false],
    ['a.py', false],
  ])
  expect(patch.match(/\+evil\(\)\0/g)).toHaveLength(2)
  expect(await reviewOf(job, task.id)).toMatchObject({ status: 'passed', notes: [] })
})

test.concurrent('waits for a person where text became binary, or a binary file looks like source', async () => {
  await using job = await startJob({ files: { 'notes.dat': 'text\n', 'README.md': 'r\n' } })
  const binary = `head -c 3000 /dev/zero`
  const task = await worked(
    job,
    `${binary} > tool.sh; ${binary} > run; chmod +x run; ${binary} > notes.dat; ${binary} > picture.png`,
  )
  expect(await reviewOf(job, task.id)).toMatchObject({
    status: 'running',
    notes: [{ kind: 'hidden_text', paths: ['notes.dat', 'run', 'tool.sh'] }],
  })
  expect(task.review_passed_at).toBeNull()
})
