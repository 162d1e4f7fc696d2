import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { isContainable } from '../domain/access/containment.ts'
import { startOfTask } from '../core/branch-starts.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import { invalidInput, isRefusal } from '../domain/refusal.ts'
import type { Tx } from '../core/event-feed.ts'
import { likelyPlace, runnerRefusal, runnersOf } from '../executions/runner-choice.ts'
import { ContainmentUnavailable } from '../ports/containment.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { StepServices } from '../steps/step-services.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'

/** Returns the runners where a claim's run may go, null for an agent elsewhere; refuses those that it can't name. */
export function claimRunners(
  { context }: Pick<StepServices, 'context'>,
  q: Queries,
  task: TaskRecord,
  agent: AgentRecord | null,
  { runner_ids: named }: ExecutionOverrides,
): { readonly ids: readonly RunnerId[] | null } | Refusal {
  if (named && agent === null)
    return invalidInput('overrides.runner_ids', 'You work on this machine. Leave the runners out, or name an agent.')
  if (named && agent && !isContainable(agent))
    return invalidInput(
      'overrides.runner_ids',
      'This agent runs outside Copse, so no runner can take it. Leave them out.',
    )
  const ids = runnersOf(context, q, { task, role: null, agent, named: named ?? null })
  return (ids && runnerRefusal(q, ids, { project_id: task.project_id, agent, waits: true })) ?? { ids }
}

/** Refuses a claim whose run would reach the machine of its runner in a way that no admin has trusted yet. */
export async function trustRefusal(
  deps: Pick<StepServices, 'context'>,
  task: TaskRecord,
  { claimant, overrides }: { readonly claimant: Assignee; readonly overrides: ExecutionOverrides },
  signal: AbortSignal,
): Promise<Refusal | null> {
  const { context } = deps
  const { read } = context.store
  const agent = claimant.type === 'agent' ? read.agents.get(claimant.id) : null
  const runners = claimRunners(deps, read, task, agent, overrides)
  if (isRefusal(runners) || runners.ids === null) return null
  const { neededTrust } = likelyPlace(context, read, task.id, runners.ids)
  const start = neededTrust && startOfTask(read, workspaceOwner(read, task))
  if (!neededTrust || !start) return null
  try {
    const needed = await neededTrust(start, { signal })
    if (needed === null) return null
    const message = `${needed.path} wants to reach the machine of ${needed.runner}. An admin must trust it first.`
    return { code: 'runner_needs_trust', message, details: { ...needed } }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ContainmentUnavailable)) throw error
    return { code: 'containment_unavailable', message: error.message }
  }
}

/**
 * Saves the worktree that a claim needs. Until its run starts, a new one uses the runner where that will most likely be,
 * so that hooks before the work run there too.
 */
export function planWorktree(
  { context, worktrees }: Pick<StepServices, 'context' | 'worktrees'>,
  tx: Tx,
  {
    task,
    project,
    role,
    request,
  }: {
    readonly task: TaskRecord
    readonly project: ProjectRecord
    readonly role: string
    readonly request: { readonly claimant: Assignee; readonly overrides: ExecutionOverrides }
  },
): void {
  const planned = worktrees.plan(tx, task, project)
  if (planned.status !== 'creating' || planned.task_id !== task.id) return
  const { claimant, overrides } = request
  const agent = claimant.type === 'agent' ? tx.agents.get(claimant.id) : null
  const ids = runnersOf(context, tx, { task, role, agent, named: overrides.runner_ids ?? null }) ?? [hereRunner]
  const runner_id = ids.find((id) => tx.runners.get(id)?.state === 'ready') ?? ids[0] ?? hereRunner
  if (runner_id !== planned.runner_id) saveWorkspace(tx, task, { ...planned, runner_id })
}
