import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startHelper } from '../child.ts'
import type { FloorAnswer, FloorRequest } from '../floor-server.ts'
import type { LoadAnswer, LoadRequest, LoadTask } from '../load-client.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Build, Contest } from '../row.ts'
import { someAtOnce } from '../some-at-once.ts'

const sizes = {
  full: { tasks: 192, connections: 16, requests: 4_000, wave: 4_000 },
  quick: { tasks: 4, connections: 2, requests: 20, wave: 20 },
} as const

/**
 * `POST /api/v1/tasks/{id}/transition` between backlog and todo, over HTTP, through the whole service: token,
 * schema, rights, rules, transaction, events, answer. The floor (floor-server.ts) is a bare Fastify route that
 * makes the same writes on a copy of the same database. One client process (load-client.ts) sends the same
 * requests to both, in turn; the side that is not asked has nothing to do.
 */
export const transitionsPerSecond: BenchRow = {
  name: 'transitions-per-second',
  unit: 'transitions/s',
  better: 'higher',
  goal: 0.5,
  rounds: { full: { warmUp: 3, measured: 15 }, quick: { warmUp: 1, measured: 2 } },
  prepare: ({ scale, build }) =>
    raceTransitions({ build, ...sizes[scale], circuit: ['todo', 'backlog'], field: plain }),
}

/** Nothing follows a move between backlog and todo. */
const plain: Field = () => ({
  enter: () => Promise.resolve(),
  ready: () => Promise.resolve(),
  settle: () => Promise.resolve(),
  verify: () => undefined,
  [Symbol.dispose]: () => undefined,
})

/** Where the tasks of a race go round. */
export type Field = (product: Product) => OpenField

export interface OpenField extends Disposable {
  /** Sends a new task to where it starts. */
  enter(task_id: string): Promise<void>
  /** Settles once all tasks stand there. */
  ready(): Promise<void>
  /** Settles once nothing that belongs to the transitions is left to do. */
  settle(): Promise<void>
  /** Throws when what belongs to the transitions that were made was not done. */
  verify(made: number): void
}

export interface Race {
  readonly build: Build
  readonly tasks: number
  readonly connections: number
  readonly requests: number
  /** So many are sent before everything that follows from them is awaited. */
  readonly wave: number
  /** Each task starts in the last of these. */
  readonly circuit: readonly string[]
  readonly field: Field
}

/** Sends the same transitions to the product and to the floor, in turn. */
export async function raceTransitions({ build, field, circuit, ...size }: Race): Promise<Contest> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'copse-bench-floor-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const course = opened.use(field(product))
  const project_id = await makeTasks(product, repository.path, size.tasks, course)
  await course.ready()
  const tasks = await tasksOf(product, project_id)

  const copy = join(folder, 'floor.db')
  copyDatabase(join(product.dataDir, 'copse.db'), copy)
  const floor = opened.use(startHelper<FloorRequest, FloorAnswer>(new URL('../floor-server.ts', import.meta.url)))
  const { url, transitions: before } = await floor.ask({ kind: 'start', database: copy })
  const load = opened.use(startHelper<LoadRequest, LoadAnswer>(new URL('../load-client.ts', import.meta.url)))
  const { connections, requests } = size
  for (const [name, target] of Object.entries({ product: product.url, floor: url })) {
    await load.ask({ kind: 'open', name, url: target, token: product.token, tasks, circuit, connections })
  }

  const sent = { product: 0, floor: 0 }
  const round = async (name: keyof typeof sent, settle: () => Promise<void>) => {
    sent[name] += requests
    const since = performance.now()
    for (let left = requests; left > 0; left -= size.wave) {
      await load.ask({ kind: 'run', name, requests: Math.min(left, size.wave) })
      await settle()
    }
    return requests / ((performance.now() - since) / 1_000)
  }
  const owned = opened.move()
  return {
    product: () => round('product', () => course.settle()),
    floor: () => round('floor', () => Promise.resolve()),
    verify: async () => {
      const moved = sum(await tasksOf(product, project_id)) - sum(tasks)
      if (moved !== sent.product) throw new Error(`The product made ${moved} of ${sent.product} transitions.`)
      course.verify(moved)
      const { transitions } = await floor.ask({ kind: 'count' })
      if (transitions - before !== sent.floor) {
        throw new Error(`The floor made ${transitions - before} of ${sent.floor} transitions.`)
      }
    },
    [Symbol.asyncDispose]: async () => {
      // Its connections first: the floor waits for those that it never answered.
      await load[Symbol.asyncDispose]()
      await floor.ask({ kind: 'stop' })
      await owned.disposeAsync()
    },
  }
}

const sum = (tasks: readonly LoadTask[]) => tasks.reduce((total, task) => total + task.version, 0)

async function makeTasks(product: Product, repo_path: string, count: number, field: OpenField) {
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Bench', repo_path })
  await someAtOnce(count, 2, async (index) => {
    const title = `Task ${index + 1}: answer in the language that the person chose`
    const description = 'Read `Accept-Language`, pick the closest one that there is, and say so in `Content-Language`.'
    await field.enter((await client.call('tasks.create', { project_id, title, description })).id)
  })
  return project_id
}

async function tasksOf({ client }: Product, project_id: string): Promise<readonly LoadTask[]> {
  return (await client.call('tasks.list', { project_id, limit: 200 })).items
}

function copyDatabase(from: string, to: string): void {
  const database = new SqliteDatabase(from, { readonly: true })
  try {
    database.prepare('VACUUM INTO ?').run(to)
  } finally {
    database.close()
  }
}
