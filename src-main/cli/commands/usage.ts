import type { Command } from 'commander'
import { limitAmount, limitScope } from '../../../src-shared/contract/limit-names.ts'
import type { LimitUse } from '../../../src-shared/contract/limits.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject } from '../find.ts'
import { formatTable } from '../table.ts'

/** `svc usage …`. */
export function addUsage(program: Command): void {
  addClientCommand(program, {
    usage: 'usage [project]',
    summary: 'show what agents have used today, and how far the limits are used (default: the folder’s project)',
    examples: ['svc usage', 'svc usage Shop', "svc usage --json | jq '.items'"],
  }).action((text: string | undefined, options: CommonOptions) => runCommand(options, (scene) => show(scene, text)))
}

async function show(scene: CommandContext, text: string | undefined): Promise<void> {
  const { client, out } = scene
  const project = await findProject(scene, text)
  const limits = await client.call('projects.limits', { project_id: project.id })
  const { items: agents } = await client.call('agents.list', {})
  const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id
  const rows = limits.agents.map(({ agent_id, usd, minutes, executions, incomplete, items }) => [
    nameOf(agent_id),
    usd === null ? 'price unknown' : `$${usd.toFixed(2)}${incomplete ? ' or more' : ''}`,
    limitAmount('agent_per_day.minutes', minutes),
    String(executions),
    items.map(usedText).join(', '),
  ])
  await out.answer(limits, () =>
    [
      rows.length === 0 ? 'No agent has run today.' : formatTable(['AGENT', 'COST', 'TIME', 'RUNS', 'LIMIT'], rows),
      ...limits.items.map((use) => `${usedText(use)} for ${limitScope(use.limit)}`),
      `Today began at 00:00, ${limits.time_zone}.`,
    ].join('\n'),
  )
}

const usedText = ({ limit, spent, allowed }: LimitUse): string =>
  `${spent === null ? 'unknown' : limitAmount(limit, spent)} of ${limitAmount(limit, allowed)}`
