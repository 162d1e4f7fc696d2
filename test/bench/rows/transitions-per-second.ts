import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startHelper } from '../child.ts'
import type { FloorAnswer, FloorRequest } from '../floor-server.ts'
import type { LoadAnswer, LoadRequest } from '../load-client.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = {
  full: { tasks: 192, connections: 16, requests: 4_000 },
  quick: { tasks: 4, connections: 2, requests: 20 },
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
  prepare,
}

async function prepare({ scale, build }: Setting): Promise<Contest> {
  const size = sizes[scale]
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'copse-bench-floor-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const { project_id, tasks } = await makeTasks(product, repository.path, size.tasks)

  const copy = join(folder, 'floor.db')
  copyDatabase(join(product.dataDir, 'copse.db'), copy)
  const floor = opened.use(startHelper<FloorRequest, FloorAnswer>(new URL('../floor-server.ts', import.meta.url)))
  const { url } = await floor.ask({ kind: 'start', database: copy })
  const load = opened.use(startHelper<LoadRequest, LoadAnswer>(new URL('../load-client.ts', import.meta.url)))
  const { connections, requests } = size
  for (const [name, target] of Object.entries({ product: product.url, floor: url })) {
    await load.ask({ kind: 'open', name, url: target, token: product.token, tasks, connections })
  }

  const sent = { product: 0, floor: 0 }
  const round = async (name: keyof typeof sent) => {
    sent[name] += requests
    return requests / (await load.ask({ kind: 'run', name, requests }))
  }
  const owned = opened.move()
  return {
    product: () => round('product'),
    floor: () => round('floor'),
    verify: async () => {
      const { items } = await product.client.call('tasks.list', { project_id, limit: 200 })
      const moved = items.reduce((sum, task) => sum + task.version - 1, 0)
      if (moved !== sent.product) throw new Error(`The product made ${moved} of ${sent.product} transitions.`)
      const { transitions } = await floor.ask({ kind: 'count' })
      if (transitions !== sent.floor) throw new Error(`The floor made ${transitions} of ${sent.floor} transitions.`)
    },
    [Symbol.asyncDispose]: async () => {
      await floor.ask({ kind: 'stop' })
      await owned.disposeAsync()
    },
  }
}

async function makeTasks({ client }: Product, repo_path: string, count: number) {
  const { id: project_id } = await client.call('projects.create', { name: 'Bench', repo_path })
  const tasks: string[] = []
  for (let number = 1; number <= count; number++) {
    const title = `Task ${number}: answer in the language that the person chose`
    const description = 'Read `Accept-Language`, pick the closest one that there is, and say so in `Content-Language`.'
    tasks.push((await client.call('tasks.create', { project_id, title, description })).id)
  }
  return { project_id, tasks }
}

/** The product's tables, indexes and rows as they are now. */
function copyDatabase(from: string, to: string): void {
  const database = new SqliteDatabase(from, { readonly: true })
  try {
    database.prepare('VACUUM INTO ?').run(to)
  } finally {
    database.close()
  }
}
