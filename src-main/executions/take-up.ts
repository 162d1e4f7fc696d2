import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'
import { toSettings } from '../core/views.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { PendingRequests } from './pending-requests.ts'
import type { RunningLaunch } from './launch.ts'
import type { RunGround } from './run-ground.ts'
import { runListener } from './run-listener.ts'
import { leaving, openRunLog, type RunWatchers } from './run-log.ts'
import type { RunMeter } from './run-meter.ts'

export interface TakeUpRequest extends RunWatchers {
  readonly record: ExecutionRecord
  readonly asks: PendingRequests
  /** Learns what the run has used so far. */
  readonly meter: Pick<RunMeter, 'add'>
}

/** Returns whether a runner elsewhere may still have the run. */
export const isHeld = ({ places }: Pick<RunGround, 'places'>, { id, task_id }: ExecutionRecord): boolean =>
  (places.of(task_id).runs.held?.(id) ?? null) !== null

/** Goes on with a run that a runner elsewhere had while the service was not there. Returns null if that can't be. */
export async function takeUp(
  context: RunGround,
  { record, asks, meter, ...watchers }: TakeUpRequest,
): Promise<RunningLaunch | null> {
  const { read } = context.store
  const { id: execution_id, task_id, project_id } = record
  const { runs, locks } = context.places.of(task_id)
  const task = read.tasks.get(task_id)
  const agent = record.agent_id === null ? null : read.agents.get(record.agent_id)
  const workspace = task && workspaceOf(read, task)
  const sizes = runs.held?.(execution_id) ?? null
  if (sizes === null || !runs.takeUp || !workspace || !agent) return null
  // What was written after the last mark is sent again.
  await context.logs.cutAgent(task_id, execution_id, sizes)
  const limit = { signal: AbortSignal.timeout(60_000) }
  for await (const item of context.logs.follow(task_id, execution_id, 0, limit))
    if (item.kind === 'entry') meter.add(item.entry)
    else break
  await locks.lock(workspace.path, { execution_id, pid: null })
  context.rememberSecrets(record.overrides.env ?? {})
  const project = read.projects.get(project_id)
  const patterns = (project && toSettings(project).redaction_patterns) ?? []
  const own = await openRunLog(context, { ...watchers, record, executor: agent.executor }, patterns)
  const { log, onAnswer } = own
  const bound = { agent_id: agent.id, project_id, task_id, execution_id }
  const process = runs.takeUp({
    execution_id,
    task_id,
    log,
    onAnswer,
    ...runListener(context, record, { agent_id: agent.id, asks, known: Promise.resolve(), log }),
    newToken: () => context.writes.untilWritten(() => context.agentTokens.mint(bound)),
  })
  own.started(process)
  const unlock = () => locks.unlock(workspace.path, execution_id)
  const outcome = afterwards(own.outcomeOf(process), unlock)
  return { kind: 'running', process: { ...process, outcome, ...leaving(process, own, unlock) } }
}
