import type { FeedItem } from '../../src-shared/contract/events.ts'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { Queries } from '../engine/store-port.ts'
import { seesAgent } from './agent-sight.ts'
import { seesProject } from './project-sight.ts'

/** Which events a caller sees: those of their projects and agents; with `only`, of that project alone. */
export function visibleTo(
  q: Queries,
  principal: Principal,
  only: ProjectId | null,
): (item: FeedItem, project_id: ProjectId | null) => boolean {
  return (item, project_id) => {
    if (only !== null && project_id !== only) return false
    if (project_id === null) return seesAgentEvent(q, principal, item)
    const project = q.projects.get(project_id)
    // Of a deleted project nothing is left to see but that it is gone.
    if (!project) return item.kind === 'event' && item.event.type === 'project.updated' && !item.event.data.project
    return isMeantFor(principal, item) && seesProject(q, principal, project)
  }
}

/** What somebody has marked as viewed is nobody else's news. */
function isMeantFor(principal: Principal, item: FeedItem): boolean {
  if (item.kind !== 'event' || item.event.type !== 'diff.viewed') return true
  const { user_id } = item.event.data
  return principal.kind === 'user' ? principal.user_id === user_id : principal.kind === 'operator' && user_id === null
}

function seesAgentEvent(q: Queries, principal: Principal, item: FeedItem): boolean {
  if (item.kind !== 'event' || item.event.type !== 'agent.updated') return principal.kind !== 'anonymous'
  const { agent } = item.event.data
  return agent === null || seesAgent(q, principal, agent)
}
