import type { UserId } from '../../src-shared/contract/ids.ts'
import { withoutEnv } from '../domain/access/agents.ts'
import type { Tx } from '../core/event-feed.ts'
import { toDaemon, toProject } from '../core/views.ts'

/** The reader ID of read and viewed marks before the first registration. */
const operator = 'operator'

/**
 * Gives every project, agent and daemon without an owner to the first user, with the read and viewed marks of the
 * local user, who is the same person. Runs inside the registration's transaction.
 */
export function adoptOwnerless(tx: Tx, owner_id: UserId): void {
  for (const orphan of tx.projects.list()) {
    if (orphan.owner_id !== null) continue
    const project = { ...orphan, owner_id, updated_at: tx.now() }
    tx.projects.put(project)
    tx.members.put(project.id, owner_id, 'owner')
    const [member = null] = tx.members.list(project.id).filter(({ user_id }) => user_id === owner_id)
    tx.emit('member.updated', { project_id: project.id, user_id: owner_id, member })
    tx.emit('project.updated', { project_id: project.id, project: toProject(tx, project) })
  }
  for (const orphan of tx.agents.list()) {
    if (orphan.owner_id !== null) continue
    const agent = { ...orphan, owner_id }
    tx.agents.put(agent)
    tx.emit('agent.updated', { project_id: null, agent_id: agent.id, agent: withoutEnv(agent) })
  }
  for (const orphan of tx.daemons.list()) {
    if (orphan.owner_id !== null) continue
    const daemon = { ...orphan, owner_id }
    tx.daemons.put(daemon)
    tx.emit('daemon.updated', { project_id: null, daemon_id: daemon.id, daemon: toDaemon(daemon) })
  }
  tx.notifications.passOn(operator, owner_id)
  tx.viewed_files.passOn(operator, owner_id)
}
