import { access } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { runnerConfig, startContainerJob, useTestEngine } from '../../helpers/container-job.ts'
import { script, setHooks } from '../../helpers/lifecycle.ts'
import { containersOf } from '../../helpers/containers-of.ts'
import { present } from '../../helpers/present.ts'

const found = await useTestEngine()

/** Prints what only the image has; nothing on this machine. */
const mark = 'cat /etc/copse-test-image'

test.skipIf(found === null)('takes a task from a claim to the base branch in containers', async () => {
  const engine = present(found)
  await using job = await startContainerJob(runnerConfig(engine))
  const { client } = job.running
  await job.settings({ setup_commands: [`${mark} > setup.log`] })
  await setHooks(job, { before_work: [script(`${mark} > hook.log`)] })
  const agent = await job.agent(
    `cat > prompt.txt; ${mark} > agent.log; if grep -q "Say it louder" prompt.txt; then echo HELLO; else echo hello; fi > hello.txt; git add -A; git commit -qm "Say hello"; echo more > left.txt`,
  )
  const task = await job.task({ review_config: { ci_steps: [mark] } })
  const { path } = await job.claim(task, agent)
  const inReview = (attempt: number) =>
    job.running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await inReview(1)
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Say it louder' })
  const reviewed = await inReview(2)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  const checks = reviews.flatMap((review) => review.step_results.map((step) => step.output_tail.trim()))
  expect(checks).toEqual([engine.image, engine.image])
  const { task: merged } = await client.call('tasks.transition', {
    task_id: task.id,
    status: 'merging',
    version: reviewed.version,
  })
  expect(merged.status).toBe('done')
  expect(await job.repository.git(['show', 'main:hello.txt'])).toBe('HELLO')
  for (const file of ['setup.log', 'hook.log', 'agent.log'])
    expect(await job.repository.git(['show', `main:${file}`])).toBe(engine.image)
  await expect(access(path)).rejects.toThrow('ENOENT')
  expect(await containersOf(engine, job.running.dataDir)).toEqual([])
})
