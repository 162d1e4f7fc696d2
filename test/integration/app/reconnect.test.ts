import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { openPage } from '../../helpers/app-page.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { seededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'

/** The browser features that the stores need. */
function stubWindow(): void {
  const history = { state: null, pushState: () => undefined, replaceState: () => undefined }
  const window = Object.assign(new EventTarget(), { location: { hash: '' }, history })
  vi.stubGlobal('window', window)
}
afterEach(() => void vi.unstubAllGlobals())

/** An action of a person, or an accident of one of the two pages. */
type Step = (job: Job, chance: SeededRandom) => Promise<unknown>

const anyTask = async (job: Job, chance: SeededRandom) => {
  const { items } = await job.running.client.call('tasks.list', { project_id: job.project.id, limit: 200 })
  return items.length === 0 ? null : chance.pick(items)
}
const onTask =
  (work: (job: Job, task: NonNullable<Awaited<ReturnType<typeof anyTask>>>) => Promise<unknown>): Step =>
  async (job, chance) => {
    const task = await anyTask(job, chance)
    // A refused step is as good as any, because nothing changes.
    if (task) await work(job, task).catch(() => null)
  }

const onNotice =
  (work: (job: Job, notification_id: string) => Promise<unknown>): Step =>
  async (job, chance) => {
    const { items } = await job.running.client.call('notifications.list', {})
    if (items.length > 0) await work(job, chance.pick(items).id)
  }

/** Something that people see. */
async function block({ running }: Job, task_id: string): Promise<void> {
  const { task } = await running.client.call('tasks.claim', { task_id })
  await running.client.call('tasks.transition', { task_id, version: task.version, status: 'blocked' })
}

const deeds: readonly Step[] = [
  (job) => job.task({ title: 'Another' }),
  (job) => job.task({ title: 'One more' }),
  onTask((job, { id }) => job.running.client.call('tasks.update', { task_id: id, priority: 3 })),
  onTask((job, { id, version, status }) =>
    job.running.client.call('tasks.transition', {
      task_id: id,
      version,
      status: status === 'backlog' ? 'todo' : 'backlog',
    }),
  ),
  onTask((job, { id }) => job.running.client.call('tasks.claim', { task_id: id })),
  onTask((job, { active_execution_id }) =>
    job.running.client.call('executions.finish', { execution_id: active_execution_id ?? '', status: 'succeeded' }),
  ),
  onTask((job, { id }) => job.running.client.call('tasks.cancel', { task_id: id })),
  onTask((job, { id }) => job.running.client.call('tasks.archive', { task_id: id })),
  onTask((job, { id }) => job.running.client.call('tasks.delete', { task_id: id })),
  onTask((job, { id }) =>
    job.running.client.call('tasks.link', { task_id: id, url: `https://git.test/a/b/issues/${Date.now()}` }),
  ),
  onTask((job, { id }) => block(job, id)),
  onTask((job, { id }) => block(job, id)),
  onNotice(({ running }, notification_id) => running.client.call('notifications.mark_read', { notification_id })),
  onNotice(({ running }, notification_id) => running.client.call('notifications.mark_unread', { notification_id })),
  onNotice(({ running }, notification_id) => running.client.call('notifications.delete', { notification_id })),
  ({ running }) => running.client.call('notifications.mark_all_read', {}),
  (job) => job.agent('true', 'Helper'),
  async ({ running }, chance) => {
    const { items } = await running.client.call('agents.list', {})
    if (items.length > 0) await running.client.call('agents.delete', { agent_id: chance.pick(items).id })
  },
  (job) => job.running.client.call('projects.create', { name: 'Beside', repo_path: job.repository.path }),
  async ({ running, project }, chance) => {
    const items = (await running.client.call('projects.list', {})).items.filter(({ id }) => id !== project.id)
    if (items.length > 0) await running.client.call('projects.delete', { project_id: chance.pick(items).id })
  },
]

/** Removes past events, as a service with many events does. */
function forgetEvents({ running }: Job): void {
  const database = new SqliteDatabase(join(running.dataDir, 'copse.db'))
  try {
    database.pragma('busy_timeout = 5000')
    database.prepare('DELETE FROM events WHERE seq < (SELECT max(seq) FROM events)').run()
  } finally {
    database.close()
  }
}

test('shows the same after random disconnects as a page that was never disconnected', async () => {
  let resets = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const chance = seededRandom(seed)
      await using job = await startJob()
      const { client } = job.running
      stubWindow()
      using steady = openPage(client)
      using fickle = openPage(client)
      const first = await job.task({ title: 'The first' })
      await Promise.all([steady.heardOf(first.id), fickle.heardOf(first.id)])
      await Promise.all([steady.openInbox(), fickle.openInbox()])
      for (let step = 0; step < 70; step++) {
        if (chance.chance(0.2)) fickle.leave()
        if (chance.chance(0.2)) fickle.comeBack()
        if (chance.chance(0.05)) forgetEvents(job)
        await chance.pick(deeds)(job, chance)
      }
      // Missed events are lost for good at least once.
      fickle.leave()
      await block(job, (await job.task({ title: 'Unheard of' })).id)
      await job.task({ title: 'Unheard of, too' })
      forgetEvents(job)
      fickle.comeBack()
      const last = await job.task({ title: 'The last' })
      await Promise.all([steady.heardOf(last.id), fickle.heardOf(last.id)])
      await vi.waitFor(async () => {
        const { inbox, ...rest } = await steady.state()
        expect(inbox).not.toEqual([])
        expect(await fickle.state()).toEqual({ inbox, ...rest })
      }, 10_000)
      resets += fickle.resets()
    }),
    { numRuns: 4, endOnFailure: true },
  )
  // Once at the start of each run, and once at its end.
  expect(resets).toBeGreaterThanOrEqual(8)
})
