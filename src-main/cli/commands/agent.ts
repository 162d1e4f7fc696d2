import {
  executorInfos,
  executorProfiles,
  permissionPolicies,
  type ExecutorProfile,
  type PermissionPolicy,
} from '../../../src-shared/contract/executor-profiles.ts'
import { homedir } from 'node:os'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ContainmentLevel } from '../../../src-shared/contract/containment.ts'
import type { AgentSignIn } from '../../../src-shared/contract/projects.ts'
import { usageError } from '../cli-error.ts'
import {
  addAllowOptions,
  allowed,
  containedText,
  levelArgument,
  levelOption,
  reportMachine,
  type AllowOptions,
} from '../containment-options.ts'
import { findAgent } from '../find.ts'
import { shortId } from '../pick.ts'
import {
  addClientCommand,
  addGroup,
  collect,
  runCommand,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'
import { formatTable } from '../table.ts'

interface AddOptions extends CommonOptions, AllowOptions {
  readonly containment?: ContainmentLevel
  readonly executor: ExecutorProfile
  readonly command?: string
  readonly model?: string
  readonly arg?: readonly string[]
  readonly env?: readonly string[]
  readonly permissions?: PermissionPolicy
  readonly usdPerDay?: number
  readonly minutesPerDay?: number
  readonly account?: string
}

type ContainOptions = CommonOptions & AllowOptions

/** Adds `svc agent …`. */
export function addAgent(program: Command): void {
  const agent = addGroup(program, 'agent', 'add and list agents')
  const adding = addClientCommand(agent, {
    usage: 'add <name>',
    summary: 'make an agent',
    examples: [
      'svc agent add Claude --executor claude-code --model opus',
      'svc agent add Formatter --executor command --command "npx prettier --write ."',
    ],
  })
    .addOption(new Option('--executor <profile>', 'agent type').choices(executorProfiles).makeOptionMandatory())
    .option('--command <line>', 'command line for `command` and `acp`; program path for the others')
    .option('--model <model>', 'the model it is to use')
    .option('--arg <argument>', 'extra argument for its program (repeatable)', collect)
    .option('--env <name=value>', 'environment variable (repeatable)', collect)
    .addOption(
      new Option(
        '--permissions <policy>',
        'what it may do without asking: everything, edit in its worktree, or only read',
      ).choices(permissionPolicies),
    )
    .option('--usd-per-day <amount>', 'what it may cost in a day, in all projects, in US dollars', amount)
    .option('--minutes-per-day <minutes>', 'how long it may run in a day, in all projects', amount)
    .option('--account <name>', "its provider's account: agents of one wait together at its usage limit")
    .addOption(levelOption())
  addAllowOptions(adding).action((name: string, options: AddOptions) =>
    runCommand(options, (scene) => add(scene, name, options)),
  )
  addAllowOptions(
    addClientCommand(agent, {
      usage: 'contain <agent>',
      summary: 'contain an agent’s runs by the system, or let it out',
      examples: [
        'svc agent contain Claude auto',
        'svc agent contain Claude worktree_and_hosts --allow-host registry.npmjs.org',
      ],
    }).addArgument(levelArgument()),
  ).action((text: string, level: ContainmentLevel, options: ContainOptions) =>
    runCommand(options, (scene) => contain(scene, { text, level }, options)),
  )
  addClientCommand(agent, {
    usage: 'home <agent>',
    summary: 'list what contained runs of an agent wrote to its private home',
    examples: ['svc agent home Pi'],
  }).action((text: string, options: CommonOptions) => runCommand(options, (scene) => home(scene, text)))
  addClientCommand(agent, {
    usage: 'keep <agent> <paths...>',
    summary: 'keep what contained runs of an agent wrote to its private home',
    examples: ['svc agent keep Pi "~/.pi"'],
  }).action((text: string, paths: readonly string[], options: CommonOptions) =>
    runCommand(options, (scene) => keep(scene, text, paths)),
  )
  addClientCommand(agent, {
    usage: 'list',
    summary: 'list the agents that can work in your projects',
    examples: ['svc agent list', "svc agent list --json | jq -r '.items[].name'"],
  }).action((options: CommonOptions) => runCommand(options, list))
}

async function add(scene: CommandContext, name: string, options: AddOptions): Promise<void> {
  const { client, out } = scene
  const { executor, command, model, arg, env, permissions, containment } = options
  const { usdPerDay, minutesPerDay, account } = options
  const hasLimit = usdPerDay !== undefined || minutesPerDay !== undefined
  const hint = command === undefined ? await hintOf(scene, executor) : null
  const agent = await client.call('agents.create', {
    name,
    executor,
    config: {
      ...(command !== undefined && { command }),
      ...(model !== undefined && { model }),
      ...(arg !== undefined && { args: [...arg] }),
      ...(env !== undefined && { env: Object.fromEntries(env.map(variable)) }),
      ...(permissions !== undefined && { permissions }),
      ...(containment !== undefined && { containment }),
      ...(await allowed(scene, options)),
      ...(hasLimit && { limits: { per_day: { usd: usdPerDay ?? null, minutes: minutesPerDay ?? null } } }),
      ...(account !== undefined && { account }),
    },
  })
  await out.answer(agent, () => `${shortId(agent.id)}  Added agent ${agent.name}.`)
  if (hint !== null) out.info(hint)
}

async function contain(
  scene: CommandContext,
  { text, level }: { readonly text: string; readonly level: ContainmentLevel },
  options: ContainOptions,
): Promise<void> {
  const { id, config } = await findAgent(scene, text)
  const changed = { ...config, containment: level, ...(await allowed(scene, options, { before: config })) }
  const agent = await scene.client.call('agents.update', { agent_id: id, config: changed })
  await scene.out.answer(agent, () => containedText(`${agent.name} is`, level))
  await reportMachine(scene, level)
}

async function home(scene: CommandContext, text: string): Promise<void> {
  const { id, name } = await findAgent(scene, text)
  const found = await scene.client.call('agents.home', { agent_id: id })
  const rows = found.items.map(({ path, bytes, exists, problem }) => [
    path,
    `${(bytes / 1_000).toFixed(1)} kB`,
    problem ?? (exists ? 'Your home has one too.' : ''),
  ])
  await scene.out.answer(found, () =>
    rows.length === 0
      ? `${name} has written nothing to its private home.`
      : formatTable(['PATH', 'SIZE', 'NOTE'], rows),
  )
}

async function keep(scene: CommandContext, text: string, paths: readonly string[]): Promise<void> {
  const { id } = await findAgent(scene, text)
  const fromHome = paths.map((path) => (path.startsWith(`${homedir()}/`) ? `~${path.slice(homedir().length)}` : path))
  const agent = await scene.client.call('agents.keep', { agent_id: id, paths: fromHome })
  await scene.out.answer(agent, () => `${agent.name} uses ${fromHome.join(', ')} from its next run.`)
}

/** Returns the setup that an agent of this kind needs on the service's machine, or null if none is known. */
async function hintOf({ client, out }: CommandContext, executor: ExecutorProfile): Promise<string | null> {
  if (out.json) return null
  const { items } = await out.withProgress('Looking for its program …', client.call('agents.detect', {}))
  return items.find((found) => found.executor === executor)?.hint ?? null
}

function amount(text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new InvalidArgumentError('Use a number above 0.')
  return number
}

function variable(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw usageError(`--env wants NAME=VALUE, not ${JSON.stringify(text)}.`)
  return [name, value]
}

async function list({ client, out }: CommandContext): Promise<void> {
  const answer = await client.call('agents.list', {})
  const signIns = out.json ? [] : await signInsOf({ client, out })
  const found = new Map(signIns.map((item) => [item.agent_id, item]))
  const rows = answer.items.map(({ id, name, executor, config, paused }) => [
    shortId(id, answer.items),
    paused ? `${name} (paused)` : name,
    executor,
    config.containment ?? (executorInfos[executor].location === 'local' ? 'none' : ''),
    signInText(found.get(id)),
    config.model ?? '',
    config.command ?? '',
  ])
  await out.answer(answer, () =>
    rows.length === 0
      ? 'No agents yet. Add one with `svc agent add`.'
      : formatTable(['ID', 'NAME', 'EXECUTOR', 'CONTAINMENT', 'SIGN-IN', 'MODEL', 'COMMAND'], rows),
  )
  for (const hint of new Set(signIns.flatMap(({ name, hint: todo }) => (todo === null ? [] : `${name}: ${todo}`))))
    out.info(hint)
}

/** Returns which agents are signed in, or an empty list if the caller may not ask. */
const signInsOf = async ({ client, out }: Pick<CommandContext, 'client' | 'out'>): Promise<readonly AgentSignIn[]> =>
  (await out.withProgress('Asking the agents …', client.call('agents.sign_ins', {}))).items

const signInText = (found: AgentSignIn | undefined): string => {
  if (!found) return ''
  if (!found.installed) return 'not installed'
  return found.signed_in === null ? 'unknown' : found.signed_in ? 'signed in' : 'not signed in'
}
