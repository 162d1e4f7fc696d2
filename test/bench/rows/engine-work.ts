import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { startEngineRig, type EngineRig } from '../../model/engine-rig.ts'
import type { BenchRow } from '../row.ts'

const sizes = {
  full: { many: 100_000, tours: 60 },
  quick: { many: 100, tours: 2 },
} as const

/** As many take part on both sides, so that their histories grow alike; the others are only there. */
const moving = 10

/**
 * What the engine works for one transition, from the request to the last hook: tours of the default workflow
 * from backlog through a claim, work and review and back, on the real engine and a real database, with fakes
 * for git, agents and scripts. The product has 100,000 tasks in its project, the floor ten.
 */
export const engineWork: BenchRow = {
  name: 'engine-work-per-transition',
  unit: 'µs',
  better: 'lower',
  goal: 1.2,
  rounds: { full: { warmUp: 3, measured: 15 }, quick: { warmUp: 1, measured: 2 } },
  prepare: async ({ scale }) => {
    const { many, tours } = sizes[scale]
    await using opened = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'copse-bench-engine-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const crowded = opened.use(await startEngineRig(join(folder, 'many.db')))
    const empty = opened.use(await startEngineRig(join(folder, 'few.db')))
    const product = touring(crowded, many)
    const floor = touring(empty, moving)
    const owned = opened.move()
    return {
      product: () => product.run(tours),
      floor: () => floor.run(tours),
      verify: () => {
        product.verify()
        floor.verify()
        return Promise.resolve()
      },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  },
}

const signal = new AbortController().signal
const actor = { triggered_by: 'user:bench', agent_id: null, execution_id: null }

/** The states that a tour asks for, one transition each; null is a claim, which leads to in_progress. */
const tour = ['todo', null, 'review', 'in_progress', 'todo', 'backlog'] as const

/** How many hooks each of these states has. */
const hooksOf: Readonly<Record<string, number>> = { backlog: 0, todo: 0, in_progress: 2, review: 2 }

function touring(rig: EngineRig, count: number) {
  const tasks = rig.tasks(count, 'backlog')
  // Those in the middle: neither the first nor the last of any index.
  const chosen = tasks.slice(Math.floor((count - moving) / 2)).slice(0, moving)
  let toured = 0
  return {
    /** Microseconds for a transition. */
    run: async (tours: number): Promise<number> => {
      const since = performance.now()
      for (let turn = 0; turn < tours; turn++) {
        const task = chosen[toured++ % moving]
        if (task) for (const status of tour) await move(rig, task.id, status)
      }
      return ((performance.now() - since) * 1_000) / (tours * tour.length)
    },
    verify: () => {
      const made = chosen.flatMap(({ id }) => rig.store.read.transitions.byTask(id))
      if (made.length !== toured * tour.length) {
        throw new Error(`${made.length} of ${toured * tour.length} transitions were made.`)
      }
      const unfinished = made.find((one) => one.hooks.length !== hooksOf[one.to_state])
      if (unfinished) throw new Error(`Not all hooks of ${unfinished.to_state} ran: ${JSON.stringify(unfinished)}`)
      const project_id = tasks[0]?.project_id
      const there = project_id && rig.store.read.tasks.countByStatus(project_id).get('backlog')
      if (there !== count) throw new Error(`${there} of ${count} tasks are in the project.`)
    },
  }
}

async function move({ engine, store, ids }: EngineRig, task_id: TaskId, status: string | null): Promise<void> {
  const version = store.read.tasks.get(task_id)?.version ?? 0
  const claim = { task_id, claimant: { type: 'user', id: ids.user }, ...actor, by_person: true, overrides: {} } as const
  const answer =
    status === null
      ? await engine.claims.claim(claim, signal)
      : await engine.actions.transition({ task_id, status, version, reason: null }, actor, signal)
  if ('code' in answer) throw new Error(`${String(status)}: ${answer.code}: ${answer.message}`)
  await engine.worker.waitUntilDrained(task_id)
}
