import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { UsageReport } from '../../../src-shared/contract/executions.ts'
import type { HostedAgent, ReportedExecution } from '../../../src-shared/contract/daemons.ts'
import type { AgentId, DaemonId, ExecutionId, TaskId } from '../../../src-shared/contract/ids.ts'
import { withoutEnv } from '../../domain/access/agents.ts'
import { mayManageDaemon } from '../../domain/access/daemons.ts'
import type { OperationRequest } from '../../../src-shared/contract/operations.ts'
import type { Principal } from '../../domain/access/principal.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { AgentRecord, DaemonRecord } from '../../ports/agent-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findDaemon } from '../find.ts'

type Names = 'daemons.create' | 'daemons.list' | 'daemons.delete' | 'daemons.report'

export function createDaemonHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, identity, clock, newId } = parts
  const { views, remoteRuns, runners } = parts.engine
  const hasWorktree = (task_id: TaskId): boolean =>
    (store.read.workspaces.byTask(task_id)?.status ?? 'cleaned') !== 'cleaned'
  return {
    'daemons.create': ({ name }, { principal }) => {
      const { token, token_hash } = identity.createDaemonToken()
      const daemon: DaemonRecord = {
        id: newId() as DaemonId,
        token_hash,
        name,
        owner_id: principal.kind === 'user' ? principal.user_id : null,
        hostname: null,
        version: null,
        created_at: new Date(clock.now()).toISOString(),
        last_seen_at: null,
        revoked_at: null,
      }
      feed.commit((tx) => {
        tx.daemons.put(daemon)
        tx.emit('daemon.updated', { project_id: null, daemon_id: daemon.id, daemon: views.daemon(daemon) })
      })
      return { daemon: views.daemon(daemon), token }
    },
    'daemons.list': (_input, { principal }) => ({
      items: store.read.daemons
        .list()
        .filter((daemon) => mayManageDaemon(principal, daemon))
        .map((daemon) => views.daemon(daemon)),
    }),
    'daemons.delete': ({ daemon_id }, { principal }) => {
      feed.commit((tx) => {
        const daemon = findDaemon(tx, daemon_id)
        if (!mayManageDaemon(principal, daemon)) {
          throw new ApiError({ code: 'forbidden', message: 'This remote machine belongs to someone else.' })
        }
        tx.daemons.put({ ...daemon, revoked_at: tx.now() })
        tx.emit('daemon.updated', { project_id: null, daemon_id, daemon: null })
        // Pauses the daemon's agents, because nothing is left to run them.
        for (const agent of hostedBy(tx, daemon_id)) putAgent(tx, agent, { ...agent, paused: true })
      })
      runners.revoke(daemon_id)
      return null
    },
    'daemons.report': async (told, { principal, signal }) => {
      const { hostname, version, agents = [], executions = [] } = told
      const daemon_id = ownDaemon(told, principal)
      const report = feed.commit((tx) => {
        const known = findDaemon(tx, daemon_id)
        const daemon: DaemonRecord = {
          ...known,
          hostname: hostname ?? known.hostname,
          version: version ?? known.version,
          last_seen_at: tx.now(),
        }
        tx.daemons.put(daemon)
        if (isNews(known, daemon)) {
          tx.emit('daemon.updated', { project_id: null, daemon_id, daemon: views.daemon(daemon) })
        }
        for (const agent of agents) upsertAgent(parts, tx, daemon, agent)
        return {
          record: daemon,
          daemon: views.daemon(daemon),
          hosted: executions.filter((told) => beat(parts, tx, daemon, told)),
        }
      })
      const instructions = executions.map(async (told): Promise<ReportedExecution> => {
        const { id } = told
        return report.hosted.includes(told) ? { id, ...(await remoteRuns.instruct(id)) } : { id, action: 'stop' }
      })
      const { instance, protocol = 0, wait_seconds = 0, capacity, jobs: held = [], tasks = [], containment } = told
      const jobs =
        instance === undefined
          ? []
          : await runners.report(
              report.record,
              { instance, protocol, wait_seconds, capacity, jobs: held, ...(containment && { containment }) },
              { signal },
            )
      const ended = tasks.filter((task_id) => !hasWorktree(task_id))
      return { daemon: report.daemon, executions: await Promise.all(instructions), jobs: [...jobs], ended }
    },
  }
}

/** Returns the daemon that a report is about, which `self` leaves to its token. */
function ownDaemon({ daemon_id }: OperationRequest<'daemons.report'>, principal: Principal): DaemonId {
  if (daemon_id !== 'self') return daemon_id
  if (principal.kind === 'daemon') return principal.daemon_id
  throw new ApiError({ code: 'daemon_token_required', message: 'Only a remote machine has itself.' })
}

/**
 * Returns whether a report changes what clients see: the daemon's data, or once a minute its last contact, since it
 * reports again and again.
 */
function isNews(known: DaemonRecord, daemon: DaemonRecord): boolean {
  const minute = ({ last_seen_at }: DaemonRecord) => last_seen_at?.slice(0, 'yyyy-mm-ddThh:mm'.length)
  return daemon.hostname !== known.hostname || daemon.version !== known.version || minute(daemon) !== minute(known)
}

const hostedBy = (tx: Tx, id: DaemonId): AgentRecord[] => tx.agents.list().filter(({ daemon_id }) => daemon_id === id)

function upsertAgent(parts: ApiParts, tx: Tx, daemon: DaemonRecord, { name, executor, config }: HostedAgent): void {
  const known = hostedBy(tx, daemon.id).find((agent) => agent.name === name)
  putAgent(tx, known ?? null, {
    id: known?.id ?? (parts.newId() as AgentId),
    name,
    owner_id: daemon.owner_id,
    daemon_id: daemon.id,
    executor,
    config: config ?? known?.config ?? {},
    paused: known?.paused ?? false,
    created_at: known?.created_at ?? tx.now(),
  })
}

/** Saves an agent only if it changed, because a daemon reports again and again. */
function putAgent(tx: Tx, before: AgentRecord | null, agent: AgentRecord): void {
  if (before !== null && JSON.stringify(before) === JSON.stringify(agent)) return
  tx.agents.put(agent)
  tx.emit('agent.updated', { project_id: null, agent_id: agent.id, agent: withoutEnv(agent) })
}

/** Records the heartbeat of one execution; returns whether it belongs to the daemon. */
function beat(
  parts: ApiParts,
  tx: Tx,
  daemon: DaemonRecord,
  { id, usage }: { readonly id: ExecutionId; readonly usage?: UsageReport | undefined },
): boolean {
  const execution = tx.executions.get(id)
  const agent = execution?.agent_id ? tx.agents.get(execution.agent_id) : null
  if (!execution || !agent || !isHosted(parts, daemon, agent)) return false
  const isOpen = execution.status === 'running' || execution.status === 'queued'
  if (isOpen || usage !== undefined) parts.engine.remoteRuns.note(tx, execution, usage)
  return true
}

/** Returns whether a daemon hosts an agent: its own agents, and its owner's external agents without a machine. */
function isHosted(parts: ApiParts, daemon: DaemonRecord, agent: AgentRecord): boolean {
  if (agent.daemon_id !== null) return agent.daemon_id === daemon.id
  return agent.owner_id === daemon.owner_id && parts.places.here.runs.location(agent.executor) === 'remote'
}
