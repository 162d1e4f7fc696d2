import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ownFolder } from '../../src-main/runner/other-programs.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { sshd } from '../fakes/git-ssh-server.ts'
import { scripted, type ModelStep } from '../fakes/model-server.ts'
import { builtFile } from '../helpers/built.ts'
import { findTestEngine } from '../helpers/container-engine.ts'
import { removeDevcontainerImages } from '../helpers/devcontainer-job.ts'
import { present } from '../helpers/present.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { startTestSshd } from '../helpers/test-sshd.ts'
import { agentBinary } from './agent-binaries.ts'
import { createAgentBench, type AgentBench } from './agent-bench.ts'
import { agentSetups } from './agent-setups.ts'

/** The address of this machine as pods see it. */
const podHost = process.env['COPSE_TEST_HOST'] ?? '10.250.0.1'
/** With git, Node 24 and what agents are linked to. */
const image = process.env['COPSE_TEST_IMAGE'] ?? 'localhost/copse-test/base:1'

type Config = OperationInput<'runners.create'>['config']
interface Far {
  readonly runner_id: RunnerId
  /** Returns the configuration of an agent for what is there. */
  adapt(config: AgentConfig): AgentConfig
}
type StartFar = (running: RunningApp, bench: AgentBench, made: AsyncDisposableStack) => Promise<Far>

const same = (config: AgentConfig): AgentConfig => config

async function ready(running: RunningApp, kind: 'ssh' | 'container' | 'kubernetes', config: Config): Promise<RunnerId> {
  const { client } = running
  const { id } = await client.call('runners.create', { name: 'Far', kind, config })
  const { runner } = await client.call('runners.check', { runner_id: id })
  expect(runner).toMatchObject({ state: 'ready', last_error: null })
  return id
}

async function folder(made: AsyncDisposableStack): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'copse-far-'))
  made.defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

const kinds: Readonly<Record<string, StartFar>> = {
  ssh: async (running, _, made) => {
    const home = await folder(made)
    const server = made.use(await startTestSshd(home))
    const runner_id = await ready(running, 'ssh', { host: 'far', ssh_config: server.ssh_config })
    // Its program would stay there for hours.
    made.defer(async () => {
      const pid = await readFile(join(ownFolder(join(home, '.copse-runner', runner_id)), 'pid'), 'utf8').catch(() => '')
      if (pid !== '') process.kill(Number(pid), 'SIGTERM')
    })
    return { runner_id, adapt: same }
  },
  daemon: async (running, _, made) => {
    const home = await folder(made)
    const { daemon, token } = await running.client.call('daemons.create', { name: 'Far' })
    await writeFile(join(home, 'token'), token)
    const args = ['runner', '--url', running.url, '--token-file', join(home, 'token'), '--folder', join(home, 'runner')]
    const child = spawn(process.execPath, [await builtFile('cli.js'), ...args], { cwd: home, stdio: 'ignore' })
    const ended = once(child, 'exit')
    made.defer(async () => {
      child.kill('SIGTERM')
      await ended
    })
    const runner_id = daemon.id as string as RunnerId
    await running.eventually(
      () => running.client.call('runners.list', {}),
      ({ items }) => items.some(({ id, state }) => id === runner_id && state === 'ready'),
    )
    return { runner_id, adapt: same }
  },
  container: (running, bench) => startContainers(running, bench, { image }),
  'dev container': async (running, bench, made) => {
    await bench.repository.commit('Describe the tools', {
      '.devcontainer/devcontainer.json': JSON.stringify({
        build: { dockerfile: 'Dockerfile' },
        postCreateCommand: 'git --version',
        remoteEnv: { IN_DEV_CONTAINER: 'yes' },
      }),
      '.devcontainer/Dockerfile': `FROM ${image}\nRUN mkdir -p /opt/project\n`,
    })
    const found = await findTestEngine()
    if (typeof found !== 'string') made.defer(() => removeDevcontainerImages(found.engine, running.dataDir))
    return await startContainers(running, bench, { devcontainer: true })
  },
  kubernetes: async (running, bench, made) => {
    const model = made.use(await reachable(new URL(bench.model.url).port))
    // The node is this machine, and has the agent.
    const binary = await realpath(await agentBinary('claude-code'))
    const config = {
      namespace: 'default',
      image,
      pod: {
        containers: [
          {
            name: 'copse',
            imagePullPolicy: 'Never',
            volumeMounts: [{ name: 'agent', mountPath: '/agent', readOnly: true }],
          },
        ],
        volumes: [{ name: 'agent', hostPath: { path: dirname(binary) } }],
      },
    }
    const runner_id = await ready(running, 'kubernetes', config as Config)
    const adapt = ({ env = {}, ...rest }: AgentConfig): AgentConfig => {
      const { HOME: _home, CLAUDE_CONFIG_DIR: _folder, ...more } = env
      const moved = Object.entries(more).map(([key, value]) => [key, value.replaceAll(bench.model.url, model.url)])
      return {
        ...rest,
        command: `/agent/${basename(binary)}`,
        env: Object.fromEntries(moved) as Record<string, string>,
      }
    }
    return { runner_id, adapt }
  },
}

/** Makes a runner of containers that have the agent's program of this machine. */
async function startContainers(
  running: RunningApp,
  bench: AgentBench,
  made: { readonly image: string } | { readonly devcontainer: true },
): Promise<Far> {
  const found = await findTestEngine()
  if (typeof found === 'string') throw new Error(found)
  if (found.path !== '') process.env['PATH'] = `${found.path}:${process.env['PATH'] ?? ''}`
  const program = dirname(dirname(await realpath(await agentBinary('claude-code'))))
  const mounts = { read: [program, dirname(process.execPath)], write: [bench.env['HOME'] ?? ''] }
  const config = { engine: found.engine, ...made, network: 'open' as const, mounts }
  return { runner_id: await ready(running, 'container', config), adapt: same }
}

/** Leads other machines to a port that only this one can reach. */
async function reachable(port: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((socket) => {
    const own = connect(Number(port), '127.0.0.1')
    for (const one of [socket, own]) one.on('error', () => undefined)
    socket.pipe(own).pipe(socket)
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  return {
    url: `http://${podHost}:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => {
      server.close()
      return Promise.resolve()
    },
  }
}

const codex = present(agentSetups.find(({ name }) => name === 'Codex'))
const agents = {
  'Claude Code': {
    executor: 'claude-code',
    configure: async (bench: AgentBench): Promise<AgentConfig> => ({
      command: await agentBinary('claude-code'),
      model: 'fake-1',
      env: { ...bench.env },
    }),
  },
  Codex: codex,
} as const

const cases = [
  ...(sshd === null
    ? []
    : ([
        ['Claude Code', 'ssh'],
        ['Codex', 'ssh'],
      ] as const)),
  ['Claude Code', 'daemon'] as const,
  ['Codex', 'daemon'] as const,
  ['Claude Code', 'container'] as const,
  ['Claude Code', 'dev container'] as const,
  ...(process.env['KUBECONFIG'] === undefined ? [] : ([['Claude Code', 'kubernetes']] as const)),
]

test.each(cases)('takes a task with %s from claim to merge on a runner: %s', async (name, kind) => {
  await using made = new AsyncDisposableStack()
  const bench = made.use(await createAgentBench())
  const running = made.use(await runApp())
  const { client } = running
  const far = await present(kinds[kind])(running, bench, made)
  const project = await client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
  await client.call('projects.update_settings', { project_id: project.id, runner_ids: [far.runner_id] })
  const { executor, configure } = agents[name]
  const agent = await client.call('agents.create', { name, executor, config: far.adapt(await configure(bench)) })
  const steps = (text: string): ModelStep[] => [
    { write: { path: 'greet.txt', content: `${text}\n` } },
    ...(name === 'Claude Code' ? [{ tool: { name: 'svc_get_task_diff', args: {} } }] : []),
    { shell: 'git add -A && git commit -qm "Greet"' },
    { say: 'I wrote greet.txt and committed it.' },
  ]
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Greet',
    description: scripted('Write greet.txt.', steps('hello')),
    review_config: { ci_steps: ['grep -q hello greet.txt'] },
  })
  const since = performance.now()
  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await running.eventually(
    () => client.call('tasks.diff', { task_id: task.id, scope: 'branch' }),
    ({ files }) => files.length > 0,
  )
  const firstFile = performance.now() - since
  const passed = (attempt: number) =>
    running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await passed(1)
  // A person's feedback goes into the same session.
  await client.call('tasks.verdict', {
    task_id: task.id,
    verdict: 'fail',
    feedback: scripted('Say it louder.', steps('hello, louder')),
  })
  const reviewed = await passed(2)

  const { items: runs } = await client.call('tasks.executions', { task_id: task.id })
  expect(runs.map((run) => [run.status, run.runner_id])).toEqual([
    ['succeeded', far.runner_id],
    ['succeeded', far.runner_id],
  ])
  if (kind !== 'kubernetes') expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(1)
  expect(present(claimed.execution).executor).toBe(executor)
  const { version } = reviewed
  const { task: merged } = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(merged.status).toBe('done')
  expect(await bench.repository.git(['show', 'main:greet.txt'])).toBe('hello, louder')
  console.log(
    `${name}, ${kind}: claim to first file ${Math.round(firstFile)} ms, to merge ${Math.round(performance.now() - since)} ms`,
  )
})

test.each(cases.filter(([name]) => name === 'Claude Code'))(
  'keeps the work of a stopped %s, and resumes it on the runner: %s',
  async (_, kind) => {
    await using made = new AsyncDisposableStack()
    const bench = made.use(await createAgentBench())
    const running = made.use(await runApp())
    const { client } = running
    const far = await present(kinds[kind])(running, bench, made)
    const project = await client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
    await client.call('projects.update_settings', { project_id: project.id, runner_ids: [far.runner_id] })
    const config = far.adapt(await agents['Claude Code'].configure(bench))
    const agent = await client.call('agents.create', { name: 'Claude', executor: 'claude-code', config })
    const task = await client.call('tasks.create', {
      project_id: project.id,
      title: 'Never end',
      description: scripted('Write half.txt, then wait.', [
        { write: { path: 'half.txt', content: 'half\n' } },
        { shell: 'tail -f /dev/null' },
      ]),
    })
    const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const seen = () => client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    await running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'half.txt'))
    await bench.model.waitForCall((call) => call.index === 1)
    const stopped = await client.call('executions.stop', { execution_id: present(execution).id })
    expect(stopped.execution.status).toBe('stopped')
    expect((await seen()).files.map(({ path }) => path)).toEqual(['half.txt'])
    const description = scripted('Finish it.', [
      { shell: 'cat half.txt half.txt > whole.txt && git add -A && git commit -qm Whole' },
      { say: 'It is whole now.' },
    ])
    await client.call('tasks.update', { task_id: task.id, description })
    await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
    await running.taskWhere(task.id, ({ status }) => status === 'review')
    expect((await seen()).files.map(({ path }) => path)).toEqual(['half.txt', 'whole.txt'])
  },
)

test.each(cases)('has a person answer what %s asks on the runner: %s', async (name, kind) => {
  await using made = new AsyncDisposableStack()
  const bench = made.use(await createAgentBench())
  const running = made.use(await runApp())
  const { client } = running
  const far = await present(kinds[kind])(running, bench, made)
  const project = await client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
  await client.call('projects.update_settings', { project_id: project.id, runner_ids: [far.runner_id] })
  const { executor, configure } = agents[name]
  const config = { ...far.adapt(await configure(bench)), permissions: 'ask' as const }
  const agent = await client.call('agents.create', { name, executor, config })
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Ask first',
    description: scripted('Write asked.txt.', [{ shell: 'echo allowed > asked.txt' }, { say: 'I wrote asked.txt.' }]),
  })
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const execution_id = present(execution).id
  const { asks = [] } = await running.eventually(
    () => client.call('executions.get', { execution_id }),
    (one) => (one.asks ?? []).length > 0,
  )
  const ask = present(asks[0])
  expect(ask.action).toBe('run')
  await client.call('executions.answer', { execution_id, ask_id: ask.id, option_id: 'allow' })
  await running.taskWhere(task.id, ({ status }) => status === 'review')
  const { patch } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(patch).toContain('+allowed')
})
