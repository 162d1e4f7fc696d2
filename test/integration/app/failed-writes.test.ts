import { writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { holdDatabase } from '../../helpers/hold-database.ts'
import { startJob } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'

const retried = 'a result could not be written; it is kept and retried'
/** Ends on demand, with work to review. */
const atAWord = (file: string) => `echo work > work.txt; while [ ! -e '${file}' ]; do sleep 0.05; done; echo done`

/** The longest wait of `/healthz` until `over` settles. */
async function slowest(url: string, over: Promise<unknown>): Promise<number> {
  let isOver = false
  void over.finally(() => (isOver = true))
  let most = 0
  while (!isOver) {
    const began = performance.now()
    await (await fetch(`${url}/healthz`)).text()
    most = Math.max(most, performance.now() - began)
    await setTimeout(20)
  }
  return most
}

test('saves a CI step after another process has held the database for 12 s', async () => {
  const { log, lines, line } = createLogLines()
  await using job = await startJob({ log })
  const { client, url, dataDir } = job.running
  const go = join(dataDir, 'go')
  const ci = `while [ ! -e '${go}' ]; do sleep 0.05; done; echo checked >> '${dataDir}/checked'`
  const task = await job.task({ review_config: { ci_steps: [ci] } })
  await job.claim(task, await job.agent('echo work > work.txt; echo done'))
  await eventually(
    client,
    () => client.call('tasks.reviews', { task_id: task.id }),
    ({ items }) => items[0]?.step_results.length === 1,
  )
  const held = await holdDatabase(join(dataDir, 'copse.db'))
  await writeFile(go, '')
  await line(retried)
  // The first write waits for a second; later ones don't wait for the other process.
  const most = await slowest(url, setTimeout(10_000))
  expect(most).toBeLessThan(500)
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('review')
  await held.release()
  const passed = await job.running.taskWhere(task.id, ({ review_passed_at }) => review_passed_at !== null)
  expect([passed.status, passed.error_annotation, passed.entry_barrier]).toEqual(['review', null, false])
  const [review] = (await client.call('tasks.reviews', { task_id: task.id })).items
  expect(review?.step_results.map(({ exit_code }) => exit_code)).toEqual([0])
  expect(lines.filter(({ msg }) => msg === retried).length).toBeGreaterThan(3)
})

test('ends a service whose database is held for good', async () => {
  const { log, line } = createLogLines()
  await using job = await startJob({ log })
  const { dataDir } = job.running
  const go = join(dataDir, 'go')
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent(atAWord(go)))
  await job.running.eventually(
    () => job.executions(task.id),
    (all) => all[0]?.status === 'running',
  )
  const held = await holdDatabase(join(dataDir, 'copse.db'))
  await writeFile(go, '')
  await line(retried)
  const began = performance.now()
  await job.running.app.close()
  expect(performance.now() - began).toBeLessThan(10_000)
  await held.release()
  // Unwritten results are like those of a killed service: the task can continue.
  job.running = await job.running.restart()
  const lost = await job.running.taskWhere(task.id, ({ active_execution_id }) => active_execution_id === null)
  expect(lost.error_annotation).toMatchObject({ type: 'execution_lost', execution_id: execution.id })
})
