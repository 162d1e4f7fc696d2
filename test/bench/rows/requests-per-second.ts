import { createTestRepository } from '../../helpers/git-repository.ts'
import { startHelper } from '../child.ts'
import type { FloorRouteRequest } from '../floor-route.ts'
import type { GetRequest } from '../get-client.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: { connections: 16, requests: 500 }, quick: { connections: 2, requests: 10 } } as const

/**
 * `GET /api/v1/tasks/{id}` through the whole service: token, existence, rights, database, answer. The floor is a bare
 * Fastify route that answers the same body. Who asks shows an access token, or a personal one.
 */
export const requestsPerSecond: readonly BenchRow[] = (['jwt', 'pat'] as const).map((kind) => ({
  name: `requests-with-${kind}`,
  unit: 'requests/s',
  better: 'higher',
  goal: 0.6,
  rounds: { full: { warmUp: 3, measured: 15 }, quick: { warmUp: 1, measured: 2 } },
  prepare: (setting) => race(setting, kind),
}))

async function race({ build, scale }: Setting, kind: 'jwt' | 'pat'): Promise<Contest> {
  await using opened = new AsyncDisposableStack()
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Bench', repo_path: repository.path })
  const task = await client.call('tasks.create', { project_id, title: 'Answer in the language that was chosen' })
  const token = kind === 'jwt' ? product.token : (await client.call('auth.create_token', { name: 'bench' })).token
  const path = `/api/v1/tasks/${task.id}`
  const floor = opened.use(startHelper<FloorRouteRequest, string>(new URL('../floor-route.ts', import.meta.url)))
  const floorUrl = await floor.ask({ path, body: await client.call('tasks.get', { task_id: task.id }) })
  const load = opened.use(startHelper<GetRequest, readonly number[]>(new URL('../get-client.ts', import.meta.url)))
  const size = sizes[scale]
  const round = async (url: string) => {
    const since = performance.now()
    const { length } = await load.ask({ url, path, token, ...size, pauseMs: 0 })
    return length / ((performance.now() - since) / 1_000)
  }
  const owned = opened.move()
  return {
    product: () => round(product.url),
    floor: () => round(floorUrl),
    // Each answer was looked at when it came.
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
