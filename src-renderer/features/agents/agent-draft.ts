import {
  defaultExecutor,
  executorInfos,
  missingCommand,
  type ExecutorProfile,
  type PermissionPolicy,
} from '../../../src-shared/contract/executor-profiles.ts'
import { effortPattern } from '../../../src-shared/contract/effort.ts'
import { containmentDraft, containmentOf, type ContainmentDraft } from '../../model/containment.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import type { Agent, AgentConfig } from '../../../src-shared/contract/projects.ts'

/** The form data of an agent. */
export interface AgentDraft {
  executor: ExecutorProfile
  name: string
  command: string
  model: string
  effort: string
  /** One argument per line, because an argument may contain spaces. */
  args: string
  env: { name: string; value: string }[]
  permissions: PermissionPolicy
  /** Whether the agent runs in a terminal that people can type into. */
  terminal: boolean
  containment: ContainmentDraft
  /** Daily limits in dollars and minutes; empty for none. */
  dayUsd: string
  dayMinutes: string
  /** The account at the provider; empty to derive it from executor and keys. */
  account: string
  /** Where it runs, the first that can; empty: where the project says. */
  runnerIds: readonly RunnerId[]
}

export const permissionLabels: { readonly [P in PermissionPolicy]: string } = {
  all: 'Everything, without asking',
  worktree: 'Read and edit in its worktree; ask for anything else',
  ask: 'Read only; ask for anything else',
}

/** Returns whether Copse starts the executor itself, so that containment applies. */
export const isContainable = (executor: ExecutorProfile): boolean => executorInfos[executor].location === 'local'

/** Returns the draft of a new agent. */
export function newDraft(executor: ExecutorProfile = defaultExecutor): AgentDraft {
  // Without a fixed program a person enters the name.
  const { command, name: own } = executorInfos[executor]
  const name = command === 'path' ? own : ''
  const containment = containmentDraft(isContainable(executor) ? { containment: 'auto' } : {})
  const empty = {
    command: '',
    model: '',
    effort: '',
    args: '',
    env: [],
    terminal: false,
    dayUsd: '',
    dayMinutes: '',
    account: '',
    runnerIds: [],
  }
  return { executor, name, ...empty, permissions: 'all', containment }
}

/** Returns the draft of an existing agent. */
export function draftOf({ executor, name, config }: Agent): AgentDraft {
  return {
    executor,
    name,
    command: config.command ?? '',
    model: config.model ?? '',
    effort: config.effort ?? '',
    args: (config.args ?? []).join('\n'),
    env: Object.entries(config.env ?? {}).map(([key, value]) => ({ name: key, value })),
    permissions: config.permissions ?? 'all',
    terminal: config.terminal === true,
    containment: containmentDraft(config),
    dayUsd: String(config.limits?.per_day?.usd ?? ''),
    dayMinutes: String(config.limits?.per_day?.minutes ?? ''),
    account: config.account ?? '',
    runnerIds: config.runner_ids ?? [],
  }
}

/** Returns a copy that can be edited. */
export const copyOf = (draft: AgentDraft): AgentDraft => ({ ...draft, env: draft.env.map((one) => ({ ...one })) })

/** Returns a draft of the same agent with a name that isn't taken. */
export function variantOf(agent: Agent, taken: readonly string[]): AgentDraft {
  let number = 2
  while (taken.includes(`${agent.name} ${number}`)) number += 1
  return { ...draftOf(agent), name: `${agent.name} ${number}` }
}

/** Returns the arguments of a draft, one per non-empty line. */
export const argsOf = (draft: AgentDraft): string[] =>
  draft.args
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Returns the first problem that prevents saving, or null. */
export function missingOf(draft: AgentDraft): string | null {
  if (draft.name.trim() === '') return 'An agent needs a name'
  const command = missingCommand(draft.executor, draft)
  if (command !== null) return command
  if (draft.effort.trim() !== '' && !effortPattern.test(draft.effort.trim()))
    return 'Use one word for effort: low, medium or high'
  const amounts = [draft.dayUsd, draft.dayMinutes].filter((typed) => typed.trim() !== '')
  if (amounts.some((typed) => !(Number(typed) > 0))) return 'A limit must be more than 0'
  const bad = draft.env.find(({ name, value }) => (name.trim() === '') !== (value === '') || !/^\w*$/.test(name.trim()))
  if (bad) return bad.name.trim() === '' ? 'A variable needs a name' : `${bad.name} needs a value`
  return null
}

/** Returns the config to save: only fields that the executor supports, without empty ones. */
export function configOf(draft: AgentDraft): AgentConfig {
  const { command, model, args, env, effort, permissions, terminal } = executorInfos[draft.executor]
  const own = argsOf(draft)
  const variables = draft.env.filter(({ name }) => name.trim() !== '')
  return {
    ...(command !== null && draft.command.trim() !== '' && { command: draft.command.trim() }),
    ...(model && draft.model.trim() !== '' && { model: draft.model.trim() }),
    ...(effort && draft.effort.trim() !== '' && { effort: draft.effort.trim() }),
    ...(args && own.length > 0 && { args: own }),
    ...(env &&
      variables.length > 0 && { env: Object.fromEntries(variables.map(({ name, value }) => [name.trim(), value])) }),
    ...(draft.permissions !== 'all' && permissions.includes(draft.permissions) && { permissions: draft.permissions }),
    ...(terminal && draft.terminal && { terminal: true }),
    ...(isContainable(draft.executor) && containmentOf(draft.containment)),
    ...limitsOf(draft),
    ...(draft.account.trim() !== '' && { account: draft.account.trim() }),
    ...(isContainable(draft.executor) && draft.runnerIds.length > 0 && { runner_ids: [...draft.runnerIds] }),
  }
}

function limitsOf({ dayUsd, dayMinutes }: AgentDraft): Pick<AgentConfig, 'limits'> {
  const amount = (typed: string) => (typed.trim() === '' ? null : Number(typed))
  const per_day = { usd: amount(dayUsd), minutes: amount(dayMinutes) }
  return per_day.usd === null && per_day.minutes === null ? {} : { limits: { per_day } }
}
