import { present } from '../../helpers/present.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import type { LoopDelay } from '../loop-delay.ts'
import { memoryFolder } from '../memory-folder.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const sizes = { full: { agents: 8, seconds: 6 }, quick: { agents: 2, seconds: 1 } } as const
const pace = 1_000_000
const flood = `'${process.execPath}' '${new URL('../agents/flood.ts', import.meta.url).pathname}'`

/**
 * How late the event loop of the service is, at the 99th percentile, while eight agents each say 1 MB/s of Claude
 * Code's stream-json for six seconds, and a client follows the events and one transcript. The floor is one millisecond,
 * so the goal is in ms. The run fails when less has come into the logs meanwhile than was said.
 */
export const loopDelay: BenchRow = {
  name: 'eight-agents-loop-delay',
  unit: 'ms',
  better: 'lower',
  goal: 20,
  rounds: { full: { warmUp: 1, measured: 3 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const { agents, seconds } = sizes[scale]
  await using opened = new AsyncDisposableStack()
  const within = await memoryFolder()
  const repository = opened.use(await createTestRepository({ within }))
  const folder = await mkdtemp(join(within, 'copse-bench-loop-'))
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const command = join(folder, 'claude')
  await writeFile(command, `#!/bin/sh\nexec ${flood} ${pace * 600} ${pace}\n`, { mode: 0o755 })
  const product = opened.use(await startProduct(build, within, new URL('../loop-delay.ts', import.meta.url)))
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Loop', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id, max_concurrent_executions: agents })
  const { id: agent_id } = await client.call('agents.create', {
    name: 'Loud',
    executor: 'claude-code',
    config: { command },
  })
  const owned = opened.move()
  return {
    product: async () => {
      await using claims = new AsyncDisposableStack()
      const executions: ExecutionId[] = []
      for (let number = 0; number < agents; number += 1) {
        const { id: task_id } = await client.call('tasks.create', { project_id, title: `Loud ${number}` })
        claims.defer(async () => void (await client.call('tasks.cancel', { task_id })))
        executions.push(present((await client.call('tasks.claim', { task_id, agent_id })).execution).id)
      }
      const stop = new AbortController()
      const followed = Promise.all([
        read(client.events({}, null, stop.signal)),
        ...executions.slice(0, 1).map((id) => read(client.transcript({ execution_id: id }, null, stop.signal))),
      ])
      claims.defer(async () => {
        stop.abort()
        await followed
      })
      while (!(await Promise.all(executions.map((id) => sizeOf(product, id)))).every((size) => size > pace / 2)) {
        await setTimeout(100)
      }
      const before = await sumOf(product, executions)
      await product.ask('begin')
      await setTimeout(seconds * 1_000)
      const { p99_ms, max_ms } = (await product.ask('end')) as LoopDelay
      const came = (await sumOf(product, executions)) - before
      say(`  ${(came / 1e6 / seconds).toFixed(1)} MB/s came, at its latest it was ${max_ms.toFixed(1)} ms late`)
      if (came < agents * pace * seconds * 0.9) throw new Error(`Only ${came} bytes came in ${seconds} s.`)
      return p99_ms
    },
    floor: () => Promise.resolve(1),
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Bytes of the raw log so far. */
async function sizeOf({ client }: Product, execution_id: ExecutionId): Promise<number> {
  const { items } = await client.call('executions.logs', { execution_id })
  return items.find(({ name }) => name === `agent-${execution_id}.raw.log`)?.size ?? 0
}

const sumOf = async (product: Product, executions: readonly ExecutionId[]): Promise<number> =>
  (await Promise.all(executions.map((id) => sizeOf(product, id)))).reduce((sum, size) => sum + size, 0)

async function read(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
