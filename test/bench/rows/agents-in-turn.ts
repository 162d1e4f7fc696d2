import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { AgentId, ProjectId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'
import { present } from '../../helpers/present.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { memoryFolder } from '../memory-folder.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'
import { someAtOnce } from '../some-at-once.ts'

const execute = promisify(execFile)
const counts = { full: 50, quick: 6 } as const
const slots = 4
const work = 'echo work > work.txt; sleep 0.2; echo done'
/** As agents do, it leaves a job behind: the service has to end it. */
const command = `sleep 600 > /dev/null 2>&1 & ${work}`

/**
 * Fifty agents that wait for four slots, from the first claim until the last of them is gone and its logs
 * are closed. The floor makes the same worktrees and runs the same work there, four at a time, by bare Node. The
 * run fails when the service is left with a process, a descriptor or a lock more than before.
 */
export const agentsInTurn: BenchRow = {
  name: 'fifty-agents-four-slots',
  unit: 's',
  better: 'lower',
  goal: 6,
  rounds: { full: { warmUp: 0, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  const count = counts[scale]
  await using opened = new AsyncDisposableStack()
  const within = await memoryFolder()
  const repository = opened.use(await createTestRepository({ within }))
  const product = opened.use(await startProduct(build, within))
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Turns', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id, max_concurrent_executions: slots })
  const { id: agent_id } = await client.call('agents.create', { name: 'One', executor: 'command', config: { command } })
  const open: number[] = []
  let number = 0
  const owned = opened.move()
  return {
    product: async () => {
      const took = await turns(product, { project_id, agent_id }, count)
      open.push(await descriptorsOf(product.pid))
      const left = processesIn([product.dataDir]).filter(({ pid }) => pid !== product.pid)
      if (left.length > 0) throw new Error(`Left running: ${JSON.stringify(left)}`)
      say(`  ${count} agents on ${slots} slots took ${took.toFixed(1)} s; ${open.at(-1)} descriptors are open`)
      return took
    },
    floor: async () => {
      const paths = Array.from({ length: count }, () => join(repository.beside, `floor-${(number += 1)}`))
      return await bareTurns(repository, paths)
    },
    verify: () => {
      const [first = 0, last = 0] = [open[0], open.at(-1)]
      // A connection of ours, or a file that SQLite opens again, may come and go.
      if (last > first + 3) return Promise.reject(new Error(`It had ${first} descriptors at first, ${last} at last.`))
      return Promise.resolve()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Seconds until all have ended. Throws when one has not succeeded or still holds a lock. */
async function turns(
  { client }: Product,
  who: { readonly project_id: ProjectId; readonly agent_id: AgentId },
  count: number,
): Promise<number> {
  const { project_id, agent_id } = who
  const tasks = await someAtOnce(count, slots, (number) =>
    client.call('tasks.create', { project_id, title: `Turn ${number}` }),
  )
  const stop = new AbortController()
  const waiting = new Set<string>(tasks.map(({ id }) => id))
  const events = client.events({}, 0, stop.signal)
  const since = performance.now()
  for (const { id: task_id } of tasks) await client.call('tasks.claim', { task_id, agent_id })
  for await (const item of events) {
    if (item.kind === 'event' && item.event.type === 'execution.finished') waiting.delete(item.event.data.task_id)
    if (waiting.size === 0) break
  }
  const took = (performance.now() - since) / 1_000
  stop.abort()
  await someAtOnce(count, slots, async (number) => {
    const { id: task_id } = present(tasks[number])
    const { items } = await client.call('tasks.executions', { task_id })
    const { lock } = await client.call('tasks.workspace', { task_id })
    if (items.length !== 1 || items[0]?.status !== 'succeeded' || lock !== null) {
      throw new Error(`An agent was not done as it should: ${JSON.stringify({ items, lock })}`)
    }
    await client.call('tasks.cancel', { task_id })
    await client.call('tasks.delete', { task_id })
  })
  return took
}

/** The same work without a service around it; answers the seconds. */
async function bareTurns(repository: TestRepository, paths: readonly string[]): Promise<number> {
  const env = { ...process.env, ...testGitEnvironment }
  const left = [...paths]
  const next = async (): Promise<void> => {
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      await execute('git', ['worktree', 'add', '-b', branchOf(path), path, 'main'], { cwd: repository.path, env })
      const agent = spawn('/bin/sh', ['-c', work], { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] })
      agent.stdout.resume()
      agent.stderr.resume()
      await once(agent, 'close')
    }
  }
  const since = performance.now()
  await Promise.all(Array.from({ length: slots }, next))
  const took = (performance.now() - since) / 1_000
  for (const path of paths) {
    await repository.git(['worktree', 'remove', '--force', path])
    await repository.git(['branch', '--quiet', '-D', branchOf(path)])
  }
  return took
}

const branchOf = (path: string): string => `floor/${basename(path)}`

/** How many descriptors a process has open; 0 where the system does not tell. */
async function descriptorsOf(pid: number): Promise<number> {
  return process.platform === 'linux' ? (await readdir(`/proc/${pid}/fd`)).length : 0
}
