import { resolve } from 'node:path'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import {
  canMakeRunner,
  containerNetworks,
  runnerKinds,
  type Runner,
  type RunnerKind,
} from '../../../src-shared/contract/runners.ts'
import {
  addClientCommand,
  addGroup,
  collect,
  runCommand,
  wholeNumber,
  type CommandContext,
  type CommonOptions,
} from '../command-context.ts'
import { findProject, findRunner } from '../find.ts'
import { paint, plain } from '../output.ts'
import { addRunnerLogin } from './runner-login.ts'
import { shortId } from '../pick.ts'
import { formatTable } from '../table.ts'

interface AddOptions extends CommonOptions {
  readonly kind: Exclude<RunnerKind, 'here'>
  readonly image?: string
  readonly devcontainer?: boolean
  readonly host?: string
  readonly port?: number
  readonly sshConfig?: string
  readonly folder?: string
  readonly namespace?: string
  readonly context?: string
  readonly pod?: Record<string, unknown>
  readonly grace?: number
  readonly engine?: string
  readonly cpus?: number
  readonly memory?: number
  readonly network?: (typeof containerNetworks)[number]
  readonly read?: readonly string[]
  readonly write?: readonly string[]
  readonly setup?: readonly string[]
  readonly capacity?: number
  readonly project?: readonly string[]
}

/** Of `svc runner` alone, which is a runner itself. */
export interface ConnectArguments {
  readonly url: string
  readonly tokenFile: string
  readonly folder?: string
  readonly capacity?: number
}

/** Adds `svc runner` with its commands. `connect` runs a runner until it is told to end, and resolves to the exit code. */
export function addRunner(program: Command, connect: (options: ConnectArguments) => Promise<number>): void {
  const runner = addGroup(program, 'runner', 'manage where agents run, or with --token-file be a runner')
  runner
    .enablePositionalOptions()
    .option('--url <address>', 'where Copse runs: this machine connects to it and takes runs')
    .option('--token-file <file>', 'file with the token of this machine, as Copse has shown it')
    .option('--folder <path>', 'where clones are kept; by default below ~/.copse-runner')
    .option('--capacity <number>', 'runs at a time; by default 1', wholeNumber(1, 1_000))
    .addHelpText('after', '\nExample:\n  $ svc runner --url https://copse.example.com --token-file token')
    .action(async ({ url, tokenFile, ...options }: Partial<ConnectArguments>) => {
      if (url === undefined || tokenFile === undefined) return runner.help({ error: true })
      process.exitCode = await connect({ url, tokenFile, ...options })
    })
  addClientCommand(runner, {
    usage: 'list',
    summary: 'list the runners, and how many runs each has',
    examples: ['svc runner list', 'svc runner list --json | jq \'.items[] | select(.state != "ready")\''],
  }).action((options: CommonOptions) => runCommand(options, list))
  addClientCommand(runner, {
    usage: 'add <name>',
    summary: 'add a runner and check it (admins only)',
    examples: [
      'svc runner add Box --image node:24',
      'svc runner add Dev --devcontainer',
      'svc runner add Box --image node:24 --engine podman --cpus 4 --memory 8192 --capacity 2',
      'svc runner add Big --kind ssh --host big.example.com',
      'svc runner add Cluster --kind kubernetes --namespace agents --image registry.example.com/agents:1 --capacity 20',
    ],
  })
    .addOption(
      new Option('--kind <kind>', 'what carries it').choices(runnerKinds.filter(canMakeRunner)).default('container'),
    )
    .option('--image <image>', 'image of the containers')
    .option('--devcontainer', 'have the dev container of each project instead of an image')
    .option('--host <host>', 'for ssh: a name of your ssh configuration, or user@host')
    .option('--port <port>', 'for ssh: its port', wholeNumber(1, 65_535))
    .option('--ssh-config <file>', 'for ssh: another configuration file than your own')
    .option('--folder <path>', 'for ssh: where clones are kept there; by default .copse-runner in its home')
    .option('--namespace <name>', 'for kubernetes: where its pods are')
    .option('--context <name>', 'for kubernetes: a context of your configuration; by default the current one')
    .option('--pod <json>', 'for kubernetes: merged into the spec of its pods', jsonObject)
    .option('--grace <seconds>', 'how long a run may be out of contact; by default 600', wholeNumber(0, 86_400))
    .option('--engine <engine>', 'docker, podman or the socket of one (unix:///…); by default the first that answers')
    .option('--cpus <number>', 'processors that a container may use', positiveNumber)
    .option('--memory <megabytes>', 'memory that a container may use', wholeNumber(64, 16_777_216))
    .addOption(new Option('--network <network>', 'what a container may reach').choices(containerNetworks))
    .option('--read <path>', 'folder of this machine that it may read (repeatable)', collect)
    .option('--write <path>', 'folder of this machine that it may write (repeatable)', collect)
    .option('--setup <command>', 'command that fills its folder of tools (repeatable)', collect)
    .option('--capacity <number>', 'runs at a time; by default 1', wholeNumber(1, 1_000))
    .option('--project <project>', 'project whose runs it takes; by default all (repeatable)', collect)
    .action((name: string, options: AddOptions) => runCommand(options, (scene) => add(scene, name, options)))
  addClientCommand(runner, {
    usage: 'check <runner>',
    summary: 'check whether runs can start on a runner, and what to fix (admins only)',
    examples: ['svc runner check Box'],
  }).action((text: string, options: CommonOptions) =>
    runCommand(options, async (scene) => check(scene, await findRunner(scene, text))),
  )
  addRunnerLogin(runner)
  addClientCommand(runner, {
    usage: 'trust <runner> <sha256>',
    summary: 'let the dev container of a project reach the machine of a runner (admins only)',
    examples: ['svc runner trust Dev 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --project Shop'],
  })
    .option('--project <project>', 'project of the dev container; by default that of the current folder')
    .action((text: string, sha256: string, options: CommonOptions & { readonly project?: string }) =>
      runCommand(options, (scene) => trust(scene, text, sha256, options.project)),
    )
  addClientCommand(runner, {
    usage: 'remove <runner>',
    summary: 'remove a runner that nothing uses or names (admins only)',
    examples: ['svc runner remove Box'],
  }).action((text: string, options: CommonOptions) => runCommand(options, (scene) => remove(scene, text)))
}

function jsonObject(text: string): Record<string, unknown> {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new InvalidArgumentError('Use a JSON object like {"nodeSelector": {"disk": "fast"}}.')
}

function positiveNumber(text: string): number {
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new InvalidArgumentError('Use a number like 2 or 0.5.')
}

async function list({ client, out }: CommandContext): Promise<void> {
  const answer = await client.call('runners.list', {})
  const rows = answer.items.map(({ id, name, kind, state, running, capacity }) => [
    id === 'here' ? id : shortId(id, answer.items),
    plain(name),
    kind,
    state,
    capacity === null ? String(running) : `${running} of ${capacity}`,
  ])
  await out.answer(answer, () => formatTable(['ID', 'NAME', 'TYPE', 'STATE', 'RUNS'], rows))
}

async function add(scene: CommandContext, name: string, options: AddOptions): Promise<void> {
  const { kind, capacity, project, grace } = options
  const projects: string[] = []
  for (const text of project ?? []) projects.push((await findProject(scene, text)).id)
  const runner = await scene.client.call('runners.create', {
    name,
    kind,
    config: configOf(options),
    ...(capacity !== undefined && { capacity }),
    ...(grace !== undefined && { grace_seconds: grace }),
    ...(projects.length > 0 && { projects }),
  })
  await check(scene, runner)
}

function configOf(options: AddOptions): OperationInput<'runners.create'>['config'] {
  const { namespace, context, pod } = options
  const { host, port, sshConfig, folder, image, devcontainer, engine, cpus, memory, network, read, write, setup } =
    options
  const mounts = { ...(read && { read: [...read] }), ...(write && { write: [...write] }) }
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(sshConfig !== undefined && { ssh_config: resolve(sshConfig) }),
    ...(folder !== undefined && { folder }),
    ...(namespace !== undefined && { namespace }),
    ...(context !== undefined && { context }),
    ...(pod !== undefined && { pod }),
    ...(image !== undefined && { image }),
    ...(devcontainer === true && { devcontainer }),
    ...(engine !== undefined && { engine }),
    ...(cpus !== undefined && { cpus }),
    ...(memory !== undefined && { memory_mb: memory }),
    ...(network !== undefined && { network }),
    ...(Object.keys(mounts).length > 0 && { mounts }),
    ...(setup && { setup: [...setup] }),
  }
}

async function check({ client, out }: CommandContext, { id, name }: Pick<Runner, 'id' | 'name'>): Promise<void> {
  const answer = await out.withProgress('Checking …', client.call('runners.check', { runner_id: id }))
  await out.answer(answer, () => {
    const steps = answer.steps.map(({ name: step, ok, message, fix }) => {
      const mark = ok ? paint('green', 'ok') : paint('red', 'failed')
      return `  ${mark} ${plain(step)}: ${plain([message, fix].filter((text) => text !== null).join(' '))}`
    })
    const end = answer.runner.state === 'ready' ? 'is ready' : "isn't ready"
    return [...steps, `${plain(name)} ${end}.`].join('\n')
  })
}

async function trust(scene: CommandContext, text: string, sha256: string, named: string | undefined): Promise<void> {
  const { id: runner_id, name } = await findRunner(scene, text)
  const project = await findProject(scene, named)
  const answer = await scene.client.call('runners.trust', { runner_id, project_id: project.id, sha256 })
  await scene.out.answer(answer, () => `The dev container of ${plain(project.name)} is trusted on ${plain(name)}.`)
}

async function remove(scene: CommandContext, text: string): Promise<void> {
  const { id, name } = await findRunner(scene, text)
  await scene.client.call('runners.delete', { runner_id: id })
  await scene.out.answer({ id, name }, () => `Removed ${plain(name)}.`)
}
