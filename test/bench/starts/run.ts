import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { ownFolder } from '../../../src-main/runner/other-programs.ts'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { builtFile } from '../../helpers/built.ts'
import { findTestEngine } from '../../helpers/container-engine.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startTestSshd } from '../../helpers/test-sshd.ts'
import { spreadOf } from '../measure.ts'
import { isBuilt, startProduct, type Product } from '../product.ts'

/*
 * What a start costs on each type of runner: from the claim to the agent's first file, beside the same program started
 * there alone. The agent is a shell that writes the time; all runners are on this machine, so there is one clock.
 *
 *   npm run bench:starts -- [--rounds 7]
 *
 * Kubernetes is left out without KUBECONFIG and kubectl; COPSE_TEST_IMAGE is an image there with git and Node 24.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
const rounds = Number(values.rounds)
const run = promisify(execFile)
const image = process.env['COPSE_TEST_IMAGE'] ?? 'localhost/copse-test/base:1'

/** Nanoseconds since 1970, as a line. */
const tellTime = 'date +%s%N'

interface Kind {
  readonly name: string
  readonly runner_id: string
  /** Starts the program there without Copse, and returns what it printed. */
  alone(): Promise<string>
}
type Runner = OperationInput<'runners.create'>

const told = async (file: string, args: readonly string[]) => (await run(file, [...args])).stdout

await using made = new AsyncDisposableStack()
const engine = await findTestEngine()
// The service finds it as this process does.
if (typeof engine !== 'string' && engine.path !== '')
  process.env['PATH'] = `${engine.path}:${process.env['PATH'] ?? ''}`
const product = made.use(await startProduct(isBuilt() ? 'dist' : 'sources'))
const { client } = product
const repository = made.use(await createTestRepository())
const project = await client.call('projects.create', { name: 'Starts', repo_path: repository.path })
const agent = await client.call('agents.create', {
  name: 'Clock',
  executor: 'command',
  config: { command: `${tellTime} > first.txt` },
})
const kinds = [here(), await container(), await ssh(), await daemon(product), await kubernetes()]
const lines: string[] = []
for (const kind of kinds) {
  if (typeof kind === 'string') console.log(kind)
  else lines.push(await measure(kind))
}
const head = '| runner | claim to first file, ms | the program alone there, ms | Copse adds, ms |'
console.log([head, '| --- | --- | --- | --- |', ...lines].join('\n'))

async function measure({ name, runner_id, alone }: Kind): Promise<string> {
  const [ours, floors, added]: [number[], number[], number[]] = [[], [], []]
  // The first round brings the program there.
  for (let round = 0; round <= rounds; round++) {
    const floor = await timeTo(async () => alone())
    const own = await timeTo(async () => firstFile(client, runner_id))
    if (round === 0) continue
    ours.push(own)
    floors.push(floor)
    added.push(own - floor)
  }
  const cell = (list: readonly number[]) => {
    const { median, min, max } = spreadOf(list)
    return `${median.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)})`
  }
  return `| ${[name, cell(ours), cell(floors), cell(added)].join(' | ')} |`
}

/** Milliseconds until the time that `work` returns. */
async function timeTo(work: () => Promise<string>): Promise<number> {
  const since = performance.timeOrigin + performance.now()
  return Number(await work()) / 1e6 - since
}

/** Runs a task there and returns what the agent wrote. */
async function firstFile(of: Client, runner_id: string): Promise<string> {
  const { id: task_id } = await of.call('tasks.create', { project_id: project.id, title: 'Tell the time' })
  await of.call('tasks.claim', {
    task_id,
    agent_id: agent.id,
    overrides: { runner_ids: [runner_id] },
  } as OperationInput<'tasks.claim'>)
  const stop = new AbortController()
  for await (const _ of of.events({}, null, stop.signal)) {
    const { status } = await of.call('tasks.get', { task_id })
    if (status === 'in_progress' || status === 'todo') continue
    const { patch } = await of.call('tasks.diff', { task_id })
    const [, time] = /^\+(\d{19})$/m.exec(patch) ?? []
    stop.abort()
    if (time !== undefined) return time
    break
  }
  throw new Error('The agent wrote no file.')
}

async function add(runner: Runner) {
  const { id } = await client.call('runners.create', runner)
  const { steps } = await client.call('runners.check', { runner_id: id })
  for (const { ok, name, message } of steps) if (!ok) throw new Error(`${runner.name}: ${name}: ${message}`)
  return id
}

function here(): Kind {
  return { name: 'this machine', runner_id: 'here', alone: () => told('sh', ['-c', tellTime]) }
}

async function container(): Promise<Kind | string> {
  if (typeof engine === 'string') return `Left out: containers, ${engine}.`
  const config = { engine: engine.engine, image: engine.image, network: 'open' as const }
  const runner_id = await add({ name: 'Container', kind: 'container', config } as Runner)
  const args = ['run', '--rm', '--pull', 'never', engine.image, 'sh', '-c', tellTime]
  return { name: 'container', runner_id, alone: () => told(engine.engine, args) }
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'copse-starts-'))
  made.defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

async function ssh(): Promise<Kind | string> {
  const home = await folder()
  const server = made.use(await startTestSshd(home))
  const runner_id = await add({
    name: 'Far',
    kind: 'ssh',
    config: { host: 'far', ssh_config: server.ssh_config },
  } as Runner)
  // Its program would stay there for hours.
  made.defer(
    async () =>
      void process.kill(Number(await readFile(join(ownFolder(join(home, '.copse-runner', runner_id)), 'pid'), 'utf8'))),
  )
  // Its shell greets first.
  const alone = async () => (await told('ssh', ['-F', server.ssh_config, 'far', tellTime])).split('\n').at(-2) ?? ''
  return { name: 'SSH', runner_id, alone }
}

async function daemon({ url }: Product): Promise<Kind> {
  const home = await folder()
  const { daemon: of, token } = await client.call('daemons.create', { name: 'Desk' })
  await writeFile(join(home, 'token'), token)
  const args = ['runner', '--url', url, '--token-file', join(home, 'token'), '--folder', join(home, 'runner')]
  const child = spawn(process.execPath, [await builtFile('cli.js'), ...args], { cwd: home, stdio: 'ignore' })
  const ended = once(child, 'exit')
  made.defer(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const stop = new AbortController()
  for await (const _ of client.events({}, null, stop.signal)) {
    const { items } = await client.call('runners.list', {})
    if (items.some(({ id, state }) => String(id) === String(of.id) && state === 'ready')) stop.abort()
  }
  return { name: 'a machine that connects itself', runner_id: of.id, alone: () => told('sh', ['-c', tellTime]) }
}

async function kubernetes(): Promise<Kind | string> {
  if (process.env['KUBECONFIG'] === undefined) return 'Left out: Kubernetes. Set KUBECONFIG.'
  const pod = { containers: [{ name: 'copse', imagePullPolicy: 'Never' }] }
  const config = { namespace: 'default', image, pod }
  const runner_id = await add({ name: 'Cluster', kind: 'kubernetes', config } as Runner)
  let turn = 0
  const alone = async () => {
    const name = `alone-${process.pid}-${(turn += 1)}`
    const args = ['run', name, '--image', image, '--image-pull-policy=Never', '--restart=Never', '--quiet']
    await run('kubectl', [...args, '--command', '--', 'sh', '-c', tellTime])
    try {
      await run('kubectl', ['wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s']).catch(
        () => run('kubectl', ['wait', `pod/${name}`, '--for=condition=Ready=false', '--timeout=60s']),
      )
      return await told('kubectl', ['logs', name])
    } finally {
      await run('kubectl', ['delete', 'pod', name, '--wait=false'])
    }
  }
  return { name: 'Kubernetes', runner_id, alone }
}
