import { setTimeout } from 'node:timers/promises'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startHelper } from '../child.ts'
import { usageOf } from '../process-usage.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'
import type { SubscribersRequest } from '../subscribers.ts'

const sizes = { full: { subscribers: 200, events: 500 }, quick: { subscribers: 3, events: 10 } } as const
const pauseMs = 5
/**
 * What the process may come to hold between the first and the last round: V8 may give its youngest objects their full
 * 48 MB in any of them. A hundred bytes kept of each event for each client would be more.
 */
const growthBytes = 80 * 1024 * 1024

/**
 * How long an event takes from its commit to a client: the 99th percentile over 200 clients that listen by SSE, while a
 * task is changed 200 times a second. None is lost, doubled or out of order, and the memory does not grow. The floor is
 * one millisecond, so the goal is in milliseconds.
 */
export const eventsToSubscribers: BenchRow = {
  name: 'events-200-subscribers',
  unit: 'ms',
  better: 'lower',
  goal: 50,
  rounds: { full: { warmUp: 1, measured: 7 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const { subscribers, events } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const { client, url, token, pid } = product
  const { id: project_id } = await client.call('projects.create', { name: 'News', repo_path: repository.path })
  const { id: task_id } = await client.call('tasks.create', { project_id, title: 'Changes all the time' })
  const crowd = opened.use(startHelper<SubscribersRequest, number>(new URL('../subscribers.ts', import.meta.url)))
  await crowd.ask({ kind: 'open', url, token, path: `/api/v1/events?project_id=${project_id}`, count: subscribers })
  const held: number[] = []
  const owned = opened.move()
  return {
    product: async () => {
      const changes: Promise<unknown>[] = []
      const since = performance.now()
      for (let number = 0; number < events; number += 1) {
        await setTimeout(Math.max(0, since + number * pauseMs - performance.now()))
        changes.push(client.call('tasks.update', { task_id, title: `Changed for the ${number}th time` }))
      }
      await Promise.all(changes)
      const p99 = await crowd.ask({ kind: 'collect', events })
      const { memory } = await usageOf(pid)
      held.push(memory)
      say(`  memory: ${(memory / 2 ** 20).toFixed(0)} MB`)
      return p99
    },
    floor: () => Promise.resolve(1),
    verify: () => {
      const grown = (held.at(-1) ?? 0) - (held[1] ?? held[0] ?? 0)
      if (grown > growthBytes)
        return Promise.reject(new Error(`It holds ${grown} bytes more than after the first round.`))
      return Promise.resolve()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
