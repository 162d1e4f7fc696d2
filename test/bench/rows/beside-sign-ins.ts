import { startHelper } from '../child.ts'
import type { GetRequest } from '../get-client.ts'
import { startProduct } from '../product.ts'
import type { BenchRow } from '../row.ts'

const sizes = { full: { people: 20, requests: 150 }, quick: { people: 2, requests: 5 } } as const

/**
 * How long others wait while 20 people sign in at once at bcrypt 12: the 99th percentile of `GET /api/v1/auth/me`,
 * asked every 5 ms on four connections. The floor is one millisecond, so the goal is in milliseconds.
 */
export const besideSignIns: BenchRow = {
  name: 'requests-beside-20-sign-ins',
  unit: 'ms',
  better: 'lower',
  goal: 50,
  rounds: { full: { warmUp: 0, measured: 5 }, quick: { warmUp: 1, measured: 2 } },
  prepare: async ({ build, scale }) => {
    await using opened = new AsyncDisposableStack()
    const product = opened.use(await startProduct(build))
    const load = opened.use(startHelper<GetRequest, readonly number[]>(new URL('../get-client.ts', import.meta.url)))
    const { people, requests } = sizes[scale]
    const { url, token, client } = product
    const crowd = Array.from({ length: people }, (_, index) => ({
      email: `p${index}@copse.test`,
      password: 'correct horse',
    }))
    await Promise.all(crowd.map((one) => client.call('auth.register', { ...one, display_name: 'Somebody' })))
    const owned = opened.move()
    return {
      product: async () => {
        const signIns = crowd.map((one) => client.call('auth.login', one))
        const took = await load.ask({ url, path: '/api/v1/auth/me', token, connections: 4, requests, pauseMs: 5 })
        await Promise.all(signIns)
        return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0
      },
      floor: () => Promise.resolve(1),
      verify: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  },
}
