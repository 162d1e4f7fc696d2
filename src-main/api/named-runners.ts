import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ProjectId, RunnerId } from '../../src-shared/contract/ids.ts'
import { isContainable } from '../domain/access/containment.ts'
import { invalidInput } from '../domain/refusal.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { Queries } from '../ports/store.ts'
import { findRunner, throwNotFound } from './find.ts'

/** Throws if an agent names runners that don't exist, or that can't take it because it runs elsewhere. */
export function checkAgentRunners(q: Queries, agent: Omit<AgentRecord, 'id'>): void {
  const { runner_ids } = agent.config
  if (runner_ids === undefined) return
  if (!isContainable(agent)) {
    const message = 'This agent runs outside Copse, so no runner can take it. Leave its runners out.'
    throw new ApiError(invalidInput('config.runner_ids', message))
  }
  for (const id of runner_ids) findRunner(q, id)
}

/** Throws `not_found` if a project names a runner that doesn't exist or is not for it. */
export function checkProjectRunners(q: Queries, project_id: ProjectId, runner_ids: readonly RunnerId[]): void {
  for (const id of runner_ids) {
    const { projects } = findRunner(q, id)
    if (projects !== null && !projects.includes(project_id)) throwNotFound('runner')
  }
}
