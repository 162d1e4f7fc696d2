import type { FeedItem } from '../../src-shared/contract/events.ts'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import { mayManageDaemon } from '../domain/access/daemons.ts'
import { isAdmin, type Principal } from '../domain/access/principal.ts'
import type { Queries } from '../ports/store.ts'
import { canSeeEntry } from '../domain/access/knowledge.ts'
import { canSeeAgent } from './agent-visibility.ts'
import { canSeeProject } from './project-visibility.ts'

/**
 * Returns a filter for the events that a caller sees: those of their projects and agents; with `only`, of that
 * project alone.
 */
export function visibleTo(
  q: Queries,
  principal: Principal,
  only: ProjectId | null,
): (item: FeedItem, project_id: ProjectId | null) => boolean {
  const sight = rememberedSight(q, principal)
  return (item, project_id) => {
    if (mayChangeSight(item)) sight.forget()
    if (only !== null && project_id !== only) return false
    if (project_id === null) return seesOwnEvent(q, principal, item)
    if (isAboutThem(principal, item)) return true
    // The only event of a deleted project that anyone sees is its deletion.
    if (sight.of(project_id) === 'gone') {
      return item.kind === 'event' && item.event.type === 'project.updated' && !item.event.data.project
    }
    return isMeantFor(principal, item) && sight.of(project_id) === 'seen'
  }
}

type Sight = 'seen' | 'unseen' | 'gone'

/** Caches the rights of a caller, because hundreds of listeners would query them with every event. */
function rememberedSight(q: Queries, principal: Principal) {
  const known = new Map<ProjectId, Sight>()
  const look = (project_id: ProjectId): Sight => {
    const project = q.projects.get(project_id)
    return !project ? 'gone' : canSeeProject(q, principal, project) ? 'seen' : 'unseen'
  }
  return {
    of: (project_id: ProjectId): Sight => {
      const sight = known.get(project_id) ?? look(project_id)
      known.set(project_id, sight)
      return sight
    },
    forget: () => known.clear(),
  }
}

/** Returns whether an item may change who sees what. Such an event comes before all that it applies to. */
function mayChangeSight(item: FeedItem): boolean {
  if (item.kind !== 'event') return false
  return ['member.updated', 'user.updated', 'project.updated'].includes(item.event.type)
}

/** Returns whether an item is for this caller; read and viewed marks are private, proposals hidden from other runs. */
function isMeantFor(principal: Principal, item: FeedItem): boolean {
  if (item.kind !== 'event') return true
  if (item.event.type === 'knowledge.updated') return canSeeEntry(principal, item.event.data.entry)
  if (item.event.type !== 'diff.viewed' && item.event.type !== 'notification.read') return true
  const { user_id } = item.event.data
  return principal.kind === 'user' ? principal.user_id === user_id : principal.kind === 'operator' && user_id === null
}

/** Returns whether an item removes this person from a project, which they must learn too. */
function isAboutThem(principal: Principal, item: FeedItem): boolean {
  if (item.kind !== 'event' || item.event.type !== 'member.updated') return false
  return principal.kind === 'user' && principal.user_id === item.event.data.user_id
}

/** Returns whether a caller sees an event without a project, of people or agents. */
function seesOwnEvent(q: Queries, principal: Principal, item: FeedItem): boolean {
  if (item.kind !== 'event') return principal.kind !== 'anonymous'
  switch (item.event.type) {
    case 'user.updated':
      return isAdmin(principal) || (principal.kind === 'user' && principal.user_id === item.event.data.user.id)
    case 'daemon.updated':
      return item.event.data.daemon === null || mayManageDaemon(principal, item.event.data.daemon)
    case 'agent.updated':
      return item.event.data.agent === null || canSeeAgent(q, principal, item.event.data.agent)
    default:
      return principal.kind !== 'anonymous'
  }
}
