import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { Office } from '../../helpers/kill-people.ts'
import {
  appOptions,
  createWorld,
  notMerged,
  openOffice,
  startAgain,
  troubleOf,
  workAndDie,
  type World,
} from '../../helpers/kill-world.ts'
import { startKillableApp, type KillableApp } from '../../helpers/killable-app.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'

/** The number of kills; `COPSE_KILL_SEED` repeats a run as far as the machine allows. */
const kills = Number(process.env['COPSE_KILLS'] ?? 3)
const seed = Number(process.env['COPSE_KILL_SEED'] ?? Date.now() % 1_000_000)
const killsPerWorld = 10

vi.setConfig({ testTimeout: 60_000 + kills * 60_000 })

test('loses nothing, leaves nothing running and finishes twenty tasks when killed at random moments', async () => {
  const failures: string[] = []
  for (let done = 0; done < kills; done += killsPerWorld) {
    const worldSeed = seed + done
    const count = Math.min(killsPerWorld, kills - done)
    console.info(`${count} kills with COPSE_KILL_SEED=${worldSeed}`)
    // The failure of one world does not stop the next.
    await surviveKills(worldSeed, count).catch((error: unknown) => {
      console.error(error)
      failures.push(`COPSE_KILL_SEED=${worldSeed}: ${String(error)}`)
    })
  }
  expect(failures).toEqual([])
})

async function surviveKills(worldSeed: number, count: number): Promise<void> {
  await using world = await createWorld(seededRandom(worldSeed))
  let app = await startKillableApp(world.dataDir, 'plain', appOptions)
  try {
    const office = await openOffice(app, world)
    for (let kill = 1; kill <= count; kill += 1) {
      const death = await workAndDie(app, world, office)
      const { commits, files } = world.held
      const seen = `${commits.size} commits and ${files.size} files seen, ${office.tasks.size} tasks, ${office.done.size} done`
      console.info(
        `kill ${kill} after ${death.after_events} events (${death.how}), ${death.left.length} processes left; ${seen}`,
      )
      app = await startAgain(world, death)
    }
    await comeToRest(app, office)
    if (office.done.size > 0) expect(await notMerged(world, office)).toEqual([])
  } finally {
    await app[Symbol.asyncDispose]()
  }
  expect(processesIn([world.dataDir, world.repository.path])).toEqual([])
  expect(await troubleOf(world, null)).toEqual([])
  expect(await locksIn(world)).toEqual([])
}

/** Lets automatic steps end, then cancels what waits for a person. */
async function comeToRest(app: KillableApp, office: Office): Promise<void> {
  const { client } = app
  const read = async (): Promise<readonly Task[]> => {
    const tasks: Task[] = []
    for (const task_id of office.tasks) tasks.push(await client.call('tasks.get', { task_id }))
    return tasks
  }
  const endless = office.agents.get('endless')
  const isAtRest = (task: Task): boolean =>
    (task.active_execution_id === null || task.roles['coder']?.id === endless) &&
    (!task.entry_barrier || task.error_annotation !== null)
  const resting = await app.eventually(
    async () => (await read()).filter((task) => !isAtRest(task)),
    (busy) => busy.length === 0,
  )
  expect(resting).toEqual([])
  for (const { id: task_id, status } of await read()) {
    if (status === 'done' || status === 'cancelled') continue
    // A merge may have been faster.
    await client.call('tasks.cancel', { task_id }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'task_terminal') throw error
    })
  }
  const open = await app.eventually(
    async () => {
      const found: unknown[] = []
      for (const task of await read()) {
        const { items } = await client.call('tasks.executions', { task_id: task.id })
        const running = items.filter(({ status }) => status === 'running' || status === 'queued')
        if (running.length > 0 || task.active_execution_id !== null || task.entry_barrier) found.push({ task, running })
      }
      return found
    },
    (found) => found.length === 0,
  )
  expect(open).toEqual([])
}

/** Locks that would block others, and notes of unfinished moves. */
async function locksIn({ repository }: World): Promise<readonly string[]> {
  const entries = await readdir(join(repository.path, '.git'), { recursive: true })
  // A killed `git gc` of an agent leaves this lock, which blocks no one and is removed half a day later.
  const left = entries.filter((name) => name !== join('objects', 'maintenance.lock'))
  return left.filter((name) => name.endsWith('.lock') || /svc-(?:index|pending-move)/.test(name))
}
