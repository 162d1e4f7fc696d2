import type { AgentId } from '../../src-shared/contract/ids.ts'
import { withoutEnv } from '../domain/access/agents.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { ExecutionRun } from '../ports/executors.ts'
import type { AgentLog } from '../ports/logs.ts'
import type { PendingRequests } from './pending-requests.ts'
import type { RunGround } from './run-ground.ts'
import { saveLink } from './save-link.ts'

interface ListenerParts {
  readonly agent_id: AgentId
  readonly asks: PendingRequests
  /** Resolves once the record says that the run is running: no request is announced before that. */
  readonly known: Promise<void>
  readonly log: AgentLog
}

/** Returns what hears what a run tells besides its log. */
export function runListener(
  context: RunGround,
  record: ExecutionRecord,
  { agent_id, asks, known, log }: ListenerParts,
): Pick<ExecutionRun, 'onSession' | 'onHostAllowed' | 'onLink' | 'ask'> {
  return {
    onSession: (session_id) => {
      rememberSession(context, record.id, session_id)
    },
    onHostAllowed: (host) => {
      allowHost(context, agent_id, host)
    },
    onLink: (link) => {
      void known.then(() => saveLink(context, record, { link, asks: asks.pending() }))
    },
    ask: async (request, { signal }) => {
      await known
      return asks.ask(request, { signal, tell: (entry) => log.entry(entry) })
    },
  }
}

/** Lets all runs of the agent reach a host. */
function allowHost(context: RunGround, agent_id: AgentId, host: string): void {
  const write = () =>
    context.feed.commit((tx) => {
      const agent = tx.agents.get(agent_id)
      const { allowed_hosts = [] } = agent?.config ?? {}
      if (!agent || allowed_hosts.includes(host)) return
      const changed = { ...agent, config: { ...agent.config, allowed_hosts: [...allowed_hosts, host] } }
      tx.agents.put(changed)
      tx.emit('agent.updated', { project_id: null, agent_id, agent: withoutEnv(changed) })
    })
  context.writes.untilWritten(write).catch((error: unknown) => {
    context.log.error({ err: error, agent_id, host }, 'an allowed host could not be saved')
  })
}

/** Saves the session ID while the agent works, so that a crash does not lose the session. */
function rememberSession(context: RunGround, id: ExecutionRecord['id'], session_id: string): void {
  const write = () =>
    context.feed.commit((tx) => {
      const current = tx.executions.get(id)
      if (current && current.session_id !== session_id) tx.executions.put({ ...current, session_id })
    })
  context.writes.untilWritten(write).catch((error: unknown) => {
    context.log.warn({ err: error, execution_id: id }, 'the session of an agent could not be written down')
  })
}
