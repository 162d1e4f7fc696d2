import type { Command } from 'commander'
import type { Account } from '../../../src-shared/contract/accounts.ts'
import { limitAmount, limitScope } from '../../../src-shared/contract/limit-names.ts'
import type { LimitUse, ProjectLimits } from '../../../src-shared/contract/limits.ts'
import type { UsageSum } from '../../../src-shared/contract/queue.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject, findTask } from '../find.ts'
import { formatTable } from '../table.ts'

interface UsageOptions extends CommonOptions {
  readonly task?: string
}

/** Adds `svc usage …`. */
export function addUsage(program: Command): void {
  addClientCommand(program, {
    usage: 'usage [project]',
    summary:
      'show what agents have used today, how far the limits are used, and the accounts at providers (default: the folder’s project)',
    examples: ['svc usage', 'svc usage Shop', 'svc usage --task SHO-42', "svc usage --json | jq '.items'"],
  })
    .option('--task <task>', 'show the runs and limits of this task instead')
    .action((text: string | undefined, options: UsageOptions) =>
      runCommand(options, (scene) =>
        options.task === undefined ? showProject(scene, text) : showTask(scene, options.task),
      ),
    )
}

async function showProject(scene: CommandContext, text: string | undefined): Promise<void> {
  const { client, out } = scene
  const project = await findProject(scene, text)
  const project_id = project.id
  const [limits, usage, { items: agents }, { items: accounts }] = await Promise.all([
    client.call('projects.limits', { project_id }),
    client.call('projects.usage', { project_id }),
    client.call('agents.list', {}),
    client.call('accounts.list', {}),
  ])
  const agentName = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id
  await out.answer({ ...limits, usage, accounts }, () =>
    [
      dayTable(limits, agentName),
      ...limits.items.map(useLine),
      `Today began at 00:00, ${limits.time_zone}.`,
      `All runs of ${project.name}: ${sumText(usage.total)}.`,
      ...accountTable(accounts, agentName),
      `Costs that no agent named are estimated by the project's prices, or list prices of ${limits.list_prices_of} (svc prices).`,
    ].join('\n'),
  )
}

async function showTask(scene: CommandContext, text: string): Promise<void> {
  const { client, out } = scene
  const { id: task_id, ref } = await findTask(scene, text)
  const [limits, usage, { items: runs }] = await Promise.all([
    client.call('tasks.limits', { task_id }),
    client.call('tasks.usage', { task_id }),
    client.call('tasks.executions', { task_id }),
  ])
  const rows = runs.flatMap(({ started_at, status, role, usage: used }) => {
    if (started_at === null) return []
    const tokens = used ? tokensText(used) : ''
    return [[started_at, role, status, tokens, used ? costText(used) : '', String(used?.turns ?? '')]]
  })
  await out.answer({ ...limits, usage, runs }, () =>
    [
      rows.length === 0
        ? 'No runs yet.'
        : formatTable(['STARTED', 'ROLE', 'STATUS', 'TOKENS', 'COST', 'REQUESTS'], rows),
      `All runs of ${ref}: ${sumText(usage)}.`,
      ...limits.items.map(useLine),
      ...(limits.items.length === 0 ? ['No limit holds for this task.'] : []),
    ].join('\n'),
  )
}

function dayTable({ agents }: ProjectLimits, agentName: (id: string) => string): string {
  const rows = agents.map(({ agent_id, usd, minutes, executions, incomplete, items }) => [
    agentName(agent_id),
    usd === null ? 'price unknown' : costText({ cost_usd: usd, incomplete }),
    limitAmount('agent_per_day.minutes', minutes),
    String(executions),
    items.map(usedText).join(', '),
  ])
  return rows.length === 0 ? 'No agent has run today.' : formatTable(['AGENT', 'COST', 'TIME', 'RUNS', 'LIMIT'], rows)
}

function accountTable(accounts: readonly Account[], agentName: (id: string) => string): string[] {
  const rows = accounts
    .filter(({ windows, limited_until }) => windows.length > 0 || limited_until !== null)
    .map(({ account, agents, windows, limited_until, resets_at, doubtful }) => [
      account,
      agents.map(agentName).join(', '),
      limited_until === null
        ? 'available'
        : `waiting until ${limited_until}${doubtful ? ` (the named reset ${resets_at} is doubtful)` : ''}`,
      windows
        .map(({ name, used }) => `${name}: ${used === null ? 'unknown' : `${Math.round(used * 100)}% used`}`)
        .join(', '),
    ])
  return rows.length === 0 ? [] : [formatTable(['ACCOUNT', 'AGENTS', 'STATUS', 'LIMITS'], rows)]
}

const tokensText = ({ input_tokens, output_tokens }: Pick<UsageSum, 'input_tokens' | 'output_tokens'>): string =>
  input_tokens === null && output_tokens === null ? 'unknown' : String((input_tokens ?? 0) + (output_tokens ?? 0))

const costText = (sum: {
  cost_usd: number | null
  incomplete?: boolean | undefined
  estimated?: boolean | undefined
}): string =>
  sum.cost_usd === null
    ? 'price unknown'
    : `$${sum.cost_usd.toFixed(2)}${sum.incomplete ? ' or more' : ''}${sum.estimated ? ' estimated' : ''}`

const sumText = (sum: UsageSum): string =>
  `${costText(sum)}, ${tokensText(sum)} tokens, ${sum.executions} ${sum.executions === 1 ? 'run' : 'runs'}`

const useLine = (use: LimitUse): string =>
  `${usedText(use)} for ${limitScope(use.limit)}${use.raised ? ', raised' : ''}`

const usedText = ({ limit, spent, allowed, incomplete }: LimitUse): string =>
  `${spent === null ? 'unknown' : `${limitAmount(limit, spent)}${incomplete ? ' or more' : ''}`} of ${limitAmount(limit, allowed)}`
