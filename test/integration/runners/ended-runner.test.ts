import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startDaemonJob, type DaemonJob } from '../../helpers/daemon-job.ts'
import { processesIn } from '../../helpers/processes-in.ts'

// A person ends a runner whose service is gone. It ends soon, and the next one sends what it has kept.

interface World extends DaemonJob {
  readonly child: ChildProcessWithoutNullStreams
  readonly stderr: Promise<string>
  /** Moves the service's clock on, so that it believes the runner gone. */
  later(): void
}

async function startWorld(): Promise<World> {
  let ahead = 0
  const far = await startDaemonJob({ now: () => Date.now() + ahead })
  const child = far.start()
  const stderr = text(child.stderr)
  await far.isReady()
  await far.job.settings({ runner_ids: [far.runner_id] })
  return { ...far, child, stderr, later: () => void (ahead += 31_000) }
}

const tasksOf = ({ home }: World) => processesIn([join(home, 'runner', 'tasks')])
/** Resolves once the agent works, which sleeps now and then. */
const agentWorks = (world: World) =>
  expect.poll(() => tasksOf(world).some(({ command }) => command.includes('sleep')), { timeout: 20_000 }).toBe(true)
const filesOfJobs = async ({ home }: World) => await readdir(join(home, 'runner', 'jobs'), { recursive: true })

/** Ends the runner; resolves with how, and after how many seconds. */
async function end({ child }: World, signal: NodeJS.Signals = 'SIGTERM') {
  const since = performance.now()
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  child.kill(signal)
  const [code, by] = await ended
  return { code, by, seconds: (performance.now() - since) / 1_000 }
}

/** How a runner says that it has work left. */
const kept = ({ home }: World) =>
  `Work that could not be sent is kept in ${join(home, 'runner')}. It is sent when this runner starts again.`

test('keeps a run that has ended, and the next runner finishes it', async () => {
  await using world = await startWorld()
  const { job, home, door } = world
  const free = join(home, 'free')
  const task = await job.task()
  await job.claim(
    task,
    await job.agent(
      `until [ -e '${free}' ]; do sleep 0.1; done; echo work > work.txt; git add -A; git commit -qm Work`,
    ),
  )
  await agentWorks(world)
  // The service takes connections, and answers nothing.
  door.holds = () => 3_600_000
  await writeFile(free, '')
  await expect
    .poll(async () => (await filesOfJobs(world)).filter((path) => path.endsWith('end.json')), { timeout: 20_000 })
    .toHaveLength(1)
  const { code, seconds } = await end(world)
  expect(code).toBe(0)
  expect(seconds).toBeLessThan(15)
  expect(await world.stderr).toContain(kept(world))
  door.close()
  door.holds = () => 0
  world.later()
  door.open()
  world.start()
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await job.executions(task.id)).toMatchObject([{ status: 'succeeded', attempt: 1 }])
  await expect.poll(() => filesOfJobs(world), { timeout: 20_000 }).toEqual([])
})

test('keeps the work of a run that it ended, and the next runner sends it', async () => {
  await using world = await startWorld()
  const { job, door } = world
  const task = await job.task()
  // It does not end when it is asked to.
  await job.claim(
    task,
    await job.agent(`trap '' TERM; echo work > work.txt; git add -A; git commit -qm Work; while :; do sleep 0.1; done`),
  )
  await agentWorks(world)
  door.close()
  const { code, seconds } = await end(world)
  expect(code).toBe(0)
  expect(seconds).toBeLessThan(15)
  expect(tasksOf(world)).toEqual([])
  expect(await world.stderr).toContain(kept(world))
  world.later()
  door.open()
  world.start()
  await job.running.eventually(
    () => job.executions(task.id),
    ([execution]) => execution?.status === 'lost',
  )
  const rescued = async () => {
    const { items } = await job.running.client.call('rescues.of_task', { task_id: task.id })
    return await Promise.all(items.map(({ commit }) => job.repository.git(['log', '--format=%s', commit])))
  }
  await expect.poll(async () => (await rescued()).join(' '), { timeout: 20_000 }).toContain('Work')
  await expect.poll(() => filesOfJobs(world), { timeout: 20_000 }).toEqual([])
})

test('ends at once when it is told twice, with all that it runs', async () => {
  await using world = await startWorld()
  const { job, child } = world
  const task = await job.task()
  await job.claim(task, await job.agent(`trap '' TERM; touch begun.txt; while :; do sleep 0.1; done`))
  await agentWorks(world)
  child.stderr.removeAllListeners()
  const told = once(child.stderr, 'data')
  const since = performance.now()
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  child.kill('SIGTERM')
  expect(String(await told)).toContain('Ending this runner and its runs. Press Ctrl+C again to end it at once.')
  child.kill('SIGINT')
  expect(await ended).toEqual([null, 'SIGINT'])
  expect(performance.now() - since).toBeLessThan(5_000)
  await expect.poll(() => tasksOf(world), { timeout: 10_000 }).toEqual([])
  expect(await filesOfJobs(world)).not.toEqual([])
})
