import { expect, test } from 'vitest'
import { budget, startJob, type Job } from '../../helpers/job.ts'

/** Runs an agent until its budget is used up; returns CI's output each time, and the prompt of each next run. */
async function exhausted(job: Job, command: string, ci: string) {
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps: [ci] } })
  await job.claim(task, await job.agent(command))
  await job.running.taskWhere(task.id, (one) => one.status === 'blocked' && !one.entry_barrier)
  const entries = await job.transitions(task.id)
  const notices = (await client.call('notifications.list', {})).items.filter(
    (one) => one.event_type === 'review.failed',
  )
  return {
    notes: entries
      .filter((entry) => entry.to_state === 'review')
      .map((entry) => entry.hooks.find((hook) => hook.action === 'run_ci_steps')?.reason),
    feedback: entries.filter((entry) => entry.rejection).map((entry) => entry.trigger_reason ?? ''),
    prompts: (await job.executions(task.id)).map((one) => one.prompt).toReversed(),
    bodies: notices.map((one) => one.body ?? '').toReversed(),
  }
}

const calledOut = (texts: readonly string[]) =>
  texts.map((text) => /This is the same failure as in attempt (\d+): /.exec(text)?.[1] ?? null)

test.concurrent('run_ci_steps hands over a step that fails twice with the same output', async () => {
  await using job = await startJob({ workflow: budget(2) })
  // Times and counts differ between runs.
  const ci = 'echo "1 of 3 tests failed: adds (took $(date +%N) ns)"; exit 3'
  const { notes, feedback, prompts, bodies } = await exhausted(job, 'date +%N >> work.txt; echo worked', ci)
  expect(notes).toEqual([
    `${ci} failed with exit code 3`,
    `stuck: ${ci} failed as in attempt 1`,
    `stuck: ${ci} failed as in attempt 2`,
  ])
  expect(calledOut(feedback).slice(0, 2)).toEqual([null, '1'])
  expect(calledOut(prompts)).toEqual([null, null, '1'])
  expect(prompts[2]).toContain('the changes since did not touch its cause')
  expect(calledOut(bodies)).toEqual([null, '1', '2'])
})

test.concurrent('run_ci_steps continues if a step fails with other output', async () => {
  await using job = await startJob({ workflow: budget(2) })
  const fruits = 'case "$(wc -l < work.txt)" in *1) echo apple;; *2) echo pear;; *) echo apple;; esac'
  const ci = `${fruits}; exit 3`
  const { notes, feedback, prompts, bodies } = await exhausted(job, 'echo line >> work.txt; echo worked', ci)
  // The third fails like the first, but the second came between them.
  expect(notes).toEqual(Array(3).fill(`${ci} failed with exit code 3`))
  expect([feedback, prompts, bodies].flatMap(calledOut).filter((one) => one !== null)).toEqual([])
})

test.concurrent('run_ci_steps distinguishes steps with the same output', async () => {
  await using job = await startJob({ workflow: budget(1) })
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps: ['echo no; test -f one.txt', 'echo no; test -f two.txt'] } })
  await job.claim(task, await job.agent('test -f work.txt && touch one.txt; echo line >> work.txt; echo worked'))
  await job.running.taskWhere(task.id, (one) => one.status === 'blocked' && !one.entry_barrier)
  const { items } = await client.call('tasks.reviews', { task_id: task.id })
  expect(items.map((one) => one.step_results.length)).toEqual([2, 1])
  const { error_annotation } = await client.call('tasks.get', { task_id: task.id })
  expect(calledOut([error_annotation?.reason ?? ''])).toEqual([null])
})
