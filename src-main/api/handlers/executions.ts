import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import { actsFor } from '../../domain/access/work.ts'
import type { ExecutionRecord } from '../../ports/execution-queries.ts'
import { ownsAgent } from '../../domain/access/agents.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { unwrap, findExecution, findTask, throwNotFound } from '../find.ts'

type Names =
  | 'executions.get'
  | 'executions.stop'
  | 'executions.update'
  | 'executions.input'
  | 'executions.resize'
  | 'executions.answer'
  | 'executions.heartbeat'
  | 'executions.finish'
  | 'executions.logs'
  | 'executions.read_log'

export function createExecutionHandlers(parts: ApiParts): Handlers<Names> {
  const { store, engine, logs, places } = parts
  const { read } = store
  const { views } = engine
  const both = (id: ExecutionId) => {
    const execution = findExecution(read, id)
    return { execution: views.execution(execution), task: views.task(findTask(read, execution.task_id)) }
  }
  return {
    'executions.get': ({ execution_id }) => views.execution(findExecution(read, execution_id)),
    'executions.stop': async ({ execution_id }) => {
      requireOpen(findExecution(read, execution_id))
      await engine.actions.stop(execution_id)
      return both(execution_id)
    },
    'executions.update': ({ execution_id, message }) => {
      findExecution(read, execution_id)
      return views.execution(unwrap(engine.actions.editMessage(execution_id, message)))
    },
    'executions.resize': ({ execution_id, cols, rows }) => {
      findExecution(read, execution_id)
      const process = engine.executions.running().get(execution_id)?.live?.process
      if (!process) throw notRunning("The run isn't active here, so there is nothing to resize.")
      if (!process.resize) throw notRunning('The run has no terminal. Set `terminal` in the agent’s configuration.')
      process.resize(cols, rows)
      return null
    },
    'executions.input': async ({ execution_id, data }) => {
      const execution = findExecution(read, execution_id)
      const running = engine.executions.running().get(execution_id)
      if (execution.status !== 'running' || !running?.live)
        throw notRunning("The run takes no input: it isn't active here.")
      try {
        await engine.executions.input(execution_id, data)
      } catch (error) {
        if (error instanceof Error && error.name === 'ExecutorError') throw notRunning(error.message)
        throw error
      }
      return null
    },
    'executions.answer': ({ execution_id, ...given }, { principal }) => {
      const execution = requireOpen(findExecution(read, execution_id))
      // An agent may ask while it is still being started.
      if (!engine.executions.running().has(execution_id)) {
        throw notRunning("The run takes no answer: it isn't active here.")
      }
      checkAnswerer(parts, principal, execution, given.ask_id)
      const refusal = engine.executions.answer(execution_id, given, actorOf(principal))
      if (refusal) throw new ApiError(refusal)
      return { execution: views.execution(execution) }
    },
    'executions.heartbeat': async ({ execution_id, usage }, { principal }) => {
      const execution = findExecution(read, execution_id)
      // A stopped run may still report its last usage.
      if (usage === undefined) requireOpen(execution)
      checkMine(parts, principal, execution)
      parts.feed.commit((tx) => engine.remoteRuns.note(tx, findExecution(tx, execution_id), usage))
      const instruction = await engine.remoteRuns.instruct(execution_id)
      return { execution: views.execution(findExecution(read, execution_id)), ...instruction }
    },
    'executions.finish': async ({ execution_id, status, summary, usage }, { principal }) => {
      const execution = requireOpen(findExecution(read, execution_id))
      checkMine(parts, principal, execution)
      if (
        execution.executor !== 'person' &&
        places.of(execution.task_id).runs.location(execution.executor) === 'local'
      ) {
        throw notRunning('The service runs this execution itself and sees its end; end your turn instead.')
      }
      if (usage !== undefined)
        parts.feed.commit((tx) => engine.remoteRuns.note(tx, findExecution(tx, execution_id), usage))
      await engine.executions.finish(execution_id, {
        ended: 'exited',
        exit_code: status === 'succeeded' ? 0 : 1,
        session_id: null,
        usage: null,
        conclusion: 'done',
        message: summary ?? null,
      })
      return both(execution_id)
    },
    'executions.logs': async ({ execution_id }) => {
      const execution = findExecution(read, execution_id)
      return { items: [...(await logs.list(execution.task_id, execution.id))] }
    },
    'executions.read_log': async ({ execution_id, name, offset, limit, wait_seconds }, { signal }) => {
      const execution = findExecution(read, execution_id)
      const wait = wait_seconds > 0 ? { ms: wait_seconds * 1_000, signal } : undefined
      return (await logs.read(execution.task_id, name, offset, limit, wait)) ?? throwNotFound('log')
    },
  }
}

function requireOpen(execution: ExecutionRecord): ExecutionRecord {
  if (execution.status === 'running' || execution.status === 'queued') return execution
  throw notRunning(`The run has already ended (${execution.status}).`)
}

function notRunning(message: string): ApiError {
  return new ApiError({ code: 'execution_not_running', message })
}

/** Throws unless the caller may finish an execution: its agent, that agent's owner, or the person who works on it. */
function checkMine(parts: ApiParts, principal: Principal, execution: ExecutionRecord): void {
  const agent = execution.agent_id === null ? null : parts.store.read.agents.get(execution.agent_id)
  if (actsFor(principal, execution, agent)) return
  throw new ApiError({ code: 'forbidden', message: 'This run belongs to someone else.' })
}

/** Throws unless the caller may answer: what a run may reach besides, only its agent's owner says. */
function checkAnswerer(
  { engine, store }: ApiParts,
  principal: Principal,
  { id, agent_id }: ExecutionRecord,
  ask_id: string,
) {
  const ask = engine.executions
    .running()
    .get(id)
    ?.asks.pending()
    .find((one) => one.id === ask_id)
  const agent = agent_id === null ? null : store.read.agents.get(agent_id)
  if (!ask?.owner_only || (agent !== null && ownsAgent(principal, agent))) return
  const message = 'This agent belongs to someone else. Only its owner or an admin may let it reach more.'
  throw new ApiError({ code: 'forbidden', message })
}
