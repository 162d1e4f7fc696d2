import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import SqliteDatabase from 'better-sqlite3'
import type { AgentId, RunnerId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startHelper } from '../child.ts'
import type { LoopDelay } from '../loop-delay.ts'
import { usageOf, type Usage } from '../process-usage.ts'
import { isBuilt, startProduct, type Product } from '../product.ts'
import type { FleetAnswer, FleetProject, FleetRequest } from './fleet.ts'
import { folders } from './small-git.ts'

/*
 * What executions on many machines cost the service, at the rates of a day, until something breaks. The machines are
 * simulated: they speak as runners that connect from their side, and run no agent.
 *
 *   npm run bench:runners -- [--per-day 0,1000,10000,…] [--machines 100] [--seconds 90] [--run-seconds 60]
 *                            [--output-kb 130] [--pushes 4]
 */
const { values } = parseArgs({
  options: {
    'per-day': { type: 'string', default: '0,1000,10000,30000,60000,100000' },
    machines: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '90' },
    'run-seconds': { type: 'string', default: '60' },
    'output-kb': { type: 'string', default: '130' },
    pushes: { type: 'string', default: '4' },
  },
})
const rates = values['per-day'].split(',').filter(Boolean).map(Number)
const machines = Number(values.machines)
const seconds = Number(values.seconds)
const run = {
  seconds: Number(values['run-seconds']),
  output_kb: Number(values['output-kb']),
  pushes: Number(values.pushes),
}
/** A project has at most so many runs at a time, and names at most 20 runners. */
const machinesPerProject = 10
const capacity = 10
const [slowMs, lateMs] = [5_000, 30_000] as const

const execute = promisify(execFile)
const fleet = startHelper<FleetRequest, FleetAnswer>(new URL('./fleet.ts', import.meta.url))

async function addProject(product: Product, repository: TestRepository, number: number): Promise<FleetProject> {
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: `P${number}`, repo_path: repository.path })
  const config = { command: 'true' }
  const { id } = await client.call('agents.create', { name: `Agent ${number}`, executor: 'command', config })
  const tokens: string[] = []
  for (let index = 0; index < Math.min(machinesPerProject, machines - number * machinesPerProject); index++)
    tokens.push((await client.call('daemons.create', { name: `Machine ${number}.${index}` })).token)
  return { id: project_id, agent_id: id as AgentId, repo_path: repository.path, tokens }
}

/** Lets the runs of each project go to its own machines, once all are there. */
async function assignMachines({ client }: Product, projects: readonly FleetProject[]): Promise<void> {
  for (;;) {
    const { items } = await client.call('runners.list', {})
    const ready = items.filter(({ kind, state }) => kind === 'daemon' && state === 'ready')
    if (ready.length === machines) {
      for (const [number, { id: project_id }] of projects.entries()) {
        const own = ready.filter(({ name }) => name.startsWith(`Machine ${number}.`))
        const runner_ids = own.map(({ id }) => id as RunnerId)
        await client.call('projects.update_settings', { project_id, runner_ids, max_concurrent_executions: 100 })
      }
      return
    }
    await delay(500)
  }
}

/** Bytes on disk, by what they are for. */
async function sizesOf({ dataDir }: Product, repositories: readonly TestRepository[]) {
  const diskOf = async (path: string) => Number((await execute('du', ['-s', '-B1', path])).stdout.split('\t')[0])
  const fileOf = async (name: string) => (await stat(join(dataDir, name)).catch(() => ({ size: 0 }))).size
  const database = new SqliteDatabase(join(dataDir, 'copse.db'))
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  const git = await Promise.all(repositories.map(({ path }) => diskOf(join(path, '.git'))))
  return {
    database: await fileOf('copse.db'),
    logs: await diskOf(join(dataDir, 'logs')).catch(() => 0),
    repositories: git.reduce((sum, one) => sum + one, 0),
    arrivals: await diskOf(join(dataDir, 'arrivals')).catch(() => 0),
    workspaces: await diskOf(join(dataDir, 'workspaces')).catch(() => 0),
  }
}

interface Phase {
  readonly per_day: number
  readonly seen: FleetAnswer
  readonly cpu: number
  readonly machineCpu: number
  readonly delay: LoopDelay
  readonly memory: number
}

/** Busy time of all cores, in seconds. */
async function busyTime(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = line.trim().split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + soft) / 100
}

async function measure(product: Product, per_day: number): Promise<Phase> {
  await fleet.ask({ kind: 'rate', per_day })
  // Until as many runs are under way as there will be.
  await delay((per_day === 0 ? 10 : run.seconds + 15) * 1_000)
  await fleet.ask({ kind: 'read' })
  await product.ask('delay')
  const since = performance.now()
  const [before, busy] = [await usageOf(product.pid), await busyTime()]
  await delay(seconds * 1_000)
  const after: Usage = await usageOf(product.pid)
  const passed = performance.now() - since
  const machineCpu = ((await busyTime()) - busy) / (passed / 1_000)
  const delayed = (await product.ask('delay')) as LoopDelay
  return {
    per_day,
    seen: await fleet.ask({ kind: 'read' }),
    cpu: (after.cpu_ms - before.cpu_ms) / passed,
    machineCpu,
    delay: delayed,
    memory: after.memory,
  }
}

/** Returns what no longer works at this rate: calls fail, or runs end later than they come; null if all does. */
function broken({ seen, per_day }: Phase): string | null {
  const [failure] = Object.entries(seen.failures)
  if (failure) return `${failure[0]} (${failure[1]} times)`
  const due = (per_day / 86_400) * seconds
  const ended = seen.latencies['finish']?.count ?? 0
  return due > 10 && ended < due * 0.8 ? `only ${ended} of ${Math.round(due)} runs ended` : null
}

/** Returns the call that keeps people or machines waiting most, beyond what is usual; null if none does. */
function slowest({ seen }: Phase): string | null {
  const [worst] = Object.entries(seen.latencies)
    .filter(([what, { p99 }]) => p99 > (what.startsWith('claim until') ? lateMs : slowMs))
    .toSorted(([, a], [, b]) => b.p99 - a.p99)
  return worst ? `${worst[0]}: p99 ${(worst[1].p99 / 1_000).toFixed(1)} s` : null
}

const short = (ms: number): string => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0))
const percent = (part: number): string => `${(part * 100).toFixed(0)} %`
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`

function print(phases: readonly Phase[]): void {
  const names = [...new Set(phases.flatMap(({ seen }) => Object.keys(seen.latencies)))].toSorted()
  const line = (what: string, of: (phase: Phase) => string) => process.stdout.write(row([what, ...phases.map(of)]))
  line('executions a day', ({ per_day }) => per_day.toLocaleString('en'))
  line('---', () => '---:')
  line('CPU of the service and its git, of one core', ({ cpu }) => percent(cpu))
  line('busy, of all cores', ({ machineCpu }) => machineCpu.toFixed(2))
  line('event loop late, p99 ms', ({ delay: { p99_ms } }) => short(p99_ms))
  line('event loop late, longest ms', ({ delay: { max_ms } }) => short(max_ms))
  line('memory, MB', ({ memory }) => (memory / 1e6).toFixed(0))
  line('runs ended', ({ seen }) => String(seen.latencies['finish']?.count ?? 0))
  for (const name of names)
    line(`${name}, p50 / p99 ms`, ({ seen }) => {
      const found = seen.latencies[name]
      return found ? `${short(found.p50)} / ${short(found.p99)}` : ''
    })
  process.stdout.write('\n')
}

await using repositories = new AsyncDisposableStack()
const made: TestRepository[] = []
const files = { 'README.md': '# Bench\n', ...Object.fromEntries(folders.map((name) => [`${name}/keep.txt`, 'keep\n'])) }
for (let number = 0; number < Math.ceil(machines / machinesPerProject); number++)
  made.push(repositories.use(await createTestRepository({ files })))
await using product = await startProduct(
  isBuilt() ? 'dist' : 'sources',
  undefined,
  new URL('../loop-delay.ts', import.meta.url),
)
const projects: FleetProject[] = []
for (const [number, repository] of made.entries()) projects.push(await addProject(product, repository, number))
const { url, token } = product
await fleet.ask({ kind: 'open', url, token, projects, capacity, run })
await assignMachines(product, projects)
console.error(`${machines} machines are connected`)
const atFirst = await sizesOf(product, made)
const phases: Phase[] = []
let end: string | null = null
for (const per_day of rates) {
  const phase = await measure(product, per_day)
  phases.push(phase)
  end = broken(phase)
  const told = [slowest(phase), end].filter((text) => text !== null)
  console.error([`${per_day} a day: ${percent(phase.cpu)} CPU`, `${phase.seen.open} open`, ...told].join(', '))
  if (end !== null) break
}
const open = await sizesOf(product, made)
const { open: stillOpen } = await fleet.ask({ kind: 'read' })
const last = await fleet.ask({ kind: 'drain', seconds: 180 })
await delay(5_000)
const after = await sizesOf(product, made)
print(phases)
process.stdout.write(`What breaks first: ${end ?? 'nothing did'}.\n\n`)
process.stdout.write(
  `${last.claimed} claimed, ${last.finished} ended, ${last.landed} landed, ${last.open} open at the end.\n`,
)
for (const [what, bytes] of Object.entries(after) as [keyof typeof after, number][]) {
  const each = (bytes - atFirst[what]) / Math.max(1, last.landed) / 1_000
  const whileOpen = (open[what] - atFirst[what]) / 1_000
  process.stdout.write(
    `${what}: ${each.toFixed(1)} KB an execution; ${whileOpen.toFixed(0)} KB while ${stillOpen} were open\n`,
  )
}
const { latencies: _, failures } = last
if (Object.keys(failures).length > 0) process.stdout.write(`${JSON.stringify(failures)}\n`)
await fleet[Symbol.asyncDispose]()
