import { executorInfos, missingCommand, type ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { AgentId } from '../../../src-shared/contract/ids.ts'
import type { Agent, AgentConfig } from '../../../src-shared/contract/projects.ts'
import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { ownsAgent, withoutEnv } from '../../domain/access/agents.ts'
import { checkContainment, isContainable } from '../../domain/access/containment.ts'
import { checkPermissions } from '../../domain/access/permissions.ts'
import { mayOnlyRead, type Principal } from '../../domain/access/principal.ts'
import { checkAgentRunners } from '../named-runners.ts'
import type { Queries } from '../../ports/store.ts'
import type { AgentRecord } from '../../ports/agent-queries.ts'
import { canSeeAgent } from '../agent-visibility.ts'
import { checkExtraPaths } from '../containment.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findAgent, throwNotFound } from '../find.ts'
import { agentDay } from './queue.ts'

type Names =
  | 'agents.list'
  | 'agents.detect'
  | 'agents.create'
  | 'agents.get'
  | 'agents.update'
  | 'agents.home'
  | 'agents.keep'
  | 'agents.delete'
  | 'agents.check_args'
  | 'agents.test'
  | 'accounts.list'
  | 'agents.limits'
  | 'agents.sign_ins'

const given = givenFields<AgentRecord>()

export function createAgentHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, engine, places, homes, clock, newId } = parts
  const executors = places.here.runs
  const sees = (principal: Principal, agent: AgentRecord) => canSeeAgent(store.read, principal, agent)
  const owned = (principal: Principal, id: AgentId): AgentRecord => {
    const agent = findAgent(store.read, id)
    if (!sees(principal, agent)) throwNotFound('agent')
    if (ownsAgent(principal, agent)) return agent
    throw new ApiError({ code: 'forbidden', message: 'This agent belongs to someone else.' })
  }
  const put = (agent: AgentRecord): AgentRecord => {
    feed.commit((tx) => {
      tx.agents.put(agent)
      tx.emit('agent.updated', { project_id: null, agent_id: agent.id, agent: withoutEnv(agent) })
    })
    return agent
  }
  return {
    'agents.list': (_input, { principal }) => ({
      items: store.read.agents
        .list()
        .filter((agent) => sees(principal, agent))
        .map((agent) => viewFor(principal, agent)),
    }),
    'agents.sign_ins': async (_input, { principal, signal }) => {
      const asked = new Map<string, ReturnType<typeof executors.inspect>>()
      const items = store.read.agents.list().flatMap((agent) => {
        const { executor, config, daemon_id, id: agent_id } = agent
        if (!sees(principal, agent) || daemon_id !== null || executors.location(executor) === 'remote') return []
        // Agents with the same program and account are tested once.
        const key = JSON.stringify([executor, config.command, config.env])
        const found = asked.get(key) ?? executors.inspect(executor, config, { signal })
        asked.set(key, found)
        return [found.then((detected) => ({ ...detected, agent_id }))]
      })
      return { items: await Promise.all(items) }
    },
    'agents.limits': (_input, { principal }) => ({
      since: engine.limits.since(),
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      items: store.read.agents.list().flatMap((agent) => (sees(principal, agent) ? [agentDay(parts, agent)] : [])),
    }),
    'accounts.list': (_input, { principal }) => {
      const now = new Date(clock.now()).toISOString()
      const byAccount = Map.groupBy(
        store.read.agents.list().filter((agent) => sees(principal, agent)),
        (agent) => engine.accountOf(agent),
      )
      const items = [...byAccount].flatMap(([account, agents]) => {
        const [first] = agents
        if (!first || executorInfos[first.executor].location === 'remote') return []
        const told = store.read.accounts.get(account)
        const holds = told?.limited_until != null && told.limited_until > now
        return [
          {
            account,
            executor: first.executor,
            agents: agents.map(({ id }) => id),
            limited_until: holds ? (told.limited_until ?? null) : null,
            ...(holds ? engine.limitView(told, now) : { resets_at: null, doubtful: false }),
            windows: [...(told?.windows ?? [])],
            told_at: told?.told_at ?? null,
          },
        ]
      })
      return { items }
    },
    'agents.detect': async (_input, { signal }) => ({ items: [...(await executors.detect({ signal }))] }),
    'agents.create': ({ executor, config = {}, ...fields }, { principal }) => {
      checkCommand(executor, config)
      checkExtraPaths(parts, 'config.extra_paths', config.extra_paths)
      return put(
        holdable(store.read, {
          ...given(fields),
          id: newId() as AgentId,
          owner_id: principal.kind === 'user' ? principal.user_id : null,
          daemon_id: null,
          executor,
          config: isContainable({ executor, daemon_id: null }) ? { containment: 'auto', ...config } : config,
          paused: false,
          created_at: new Date(clock.now()).toISOString(),
        }),
      )
    },
    'agents.get': ({ agent_id }, { principal }) => {
      const agent = findAgent(store.read, agent_id)
      return sees(principal, agent) ? viewFor(principal, agent) : throwNotFound('agent')
    },
    'agents.update': ({ agent_id, config, ...fields }, { principal }) => {
      const agent = owned(principal, agent_id)
      if (config !== undefined) {
        checkCommand(agent.executor, config)
        checkExtraPaths(parts, 'config.extra_paths', config.extra_paths)
      }
      const wanted =
        config === undefined
          ? agent
          : holdable(store.read, { ...agent, config: { ...keptContainment(agent), ...config } })
      const updated = put({ ...wanted, ...given(fields) })
      // Its queued runs may go elsewhere now.
      if ((agent.paused && !updated.paused) || config !== undefined) engine.scheduler.startQueued()
      return updated
    },
    'agents.check_args': ({ executor, ...config }) => ({ refused: [...executors.refusedArgs(executor, config)] }),
    'agents.test': async ({ agent_id }, { principal, signal }) => {
      const agent = owned(principal, agent_id)
      if (agent.daemon_id === null && executors.location(agent.executor) === 'local')
        return await parts.testAgent(agent, signal)
      const message = `${agent.name} runs outside Copse, so there is nothing to start here. Assign a task to test it.`
      throw new ApiError({ code: 'not_claimable', message })
    },
    'agents.home': async ({ agent_id }, { principal }) => {
      const { id, config } = owned(principal, agent_id)
      return { items: [...(await homes.written(id, config))] }
    },
    'agents.keep': async ({ agent_id, paths }, { principal }) => {
      const { id, config } = owned(principal, agent_id)
      const kept: string[] = []
      for (const [index, path] of paths.entries()) {
        const result = await homes.keep(id, config, path)
        if ('problem' in result) throw new ApiError(invalidInput(`paths.${index}`, result.problem))
        kept.push(result.allowed)
      }
      const agent = owned(principal, agent_id)
      const { write = [], ...others } = agent.config.extra_paths ?? {}
      const extra_paths = { ...others, write: [...new Set([...write, ...kept])] }
      checkExtraPaths(parts, 'paths', extra_paths)
      return put({ ...agent, config: { ...agent.config, extra_paths } })
    },
    'agents.delete': async ({ agent_id }, { principal }) => {
      const agent = owned(principal, agent_id)
      if (store.read.executions.queue().some((execution) => execution.agent_id === agent.id)) {
        throw new ApiError({ code: 'already_claimed', message: 'This agent is running. Stop its run first.' })
      }
      feed.commit((tx) => {
        tx.agents.delete(agent.id)
        tx.emit('agent.updated', { project_id: null, agent_id: agent.id, agent: null })
      })
      await homes.remove(agent.id)
      return null
    },
  }
}

/** Returns the agent if it can be contained and run where its configuration says; throws otherwise. */
function holdable(q: Queries, agent: AgentRecord): AgentRecord {
  checkAgentRunners(q, agent)
  const refusal = checkPermissions(agent) ?? checkContainment(agent)
  if (refusal) throw new ApiError(refusal)
  return agent
}

/** Keeps the containment that a change does not name, so that no one removes it by accident. */
const keptContainment = ({ config: { containment } }: AgentRecord): AgentConfig =>
  containment === undefined ? {} : { containment }

function viewFor(principal: Principal, agent: AgentRecord): Agent {
  return ownsAgent(principal, agent) && !mayOnlyRead(principal) ? agent : withoutEnv(agent)
}

function checkCommand(executor: ExecutorProfile, config: AgentConfig): void {
  const message = missingCommand(executor, config)
  if (message === null) return
  throw new ApiError(invalidInput('config.command', message))
}
