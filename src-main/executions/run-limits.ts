import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { AgentId, ProjectId } from '../../src-shared/contract/ids.ts'
import { limitAmount, limitScope } from '../../src-shared/contract/limit-names.ts'
import { defaultLimits, type LimitUse } from '../../src-shared/contract/limits.ts'
import { notify } from '../core/notify.ts'
import { toSettings } from '../core/views.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import { findReached, usesOf, type ReachedLimit, type Spent } from './rules/limits.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { SpentScope } from '../ports/usage-queries.ts'
import type { LimitCheck } from '../core/limit-check.ts'
import type { RunningExecution } from '../ports/executors.ts'
import type { RunMeter } from './run-meter.ts'

/** A run that this process supervises. */
interface WatchedRun {
  readonly record: ExecutionRecord
  readonly meter: RunMeter
  readonly startedAt: number
  readonly live: { readonly process: Pick<RunningExecution, 'stop' | 'isTurnOver'> } | null
  readonly stopped: string | null
  limit: ReachedLimit | null
}

/** Enforces the limits of agents. */
export interface RunLimits extends LimitCheck {
  /** Returns how far each limit of a task with an agent is used, at the start of a run or during one. */
  uses(q: Queries, task: TaskRecord, agent: AgentRecord | null, run?: RunSpent): readonly LimitUse[]
  /** Returns the limit that a queued execution has reached, or null. */
  holds(q: Queries, record: Pick<ExecutionRecord, 'task_id' | 'agent_id'>): ReachedLimit | null
  /** Returns how far a run has used its limits, and warns when it is near one. */
  look(record: ExecutionRecord, spent: RunSpent): readonly LimitUse[]
  /** Returns what was spent today. */
  today(
    q: Queries,
    scope: { readonly project_id: ProjectId } | { readonly agent_id: AgentId },
  ): Spent & { readonly executions: number }
  ofProject(q: Queries, project: ProjectRecord): LimitUse[]
  ofAgent(q: Queries, agent: AgentRecord): LimitUse[]
  /** Returns what a running or ended run has spent. */
  spentBy(record: ExecutionRecord): RunSpent
  /** Returns when the day began, by the clock and time zone of this machine. */
  since(): string
}

interface RunSpent extends Spent {
  /** null: the agent does not show its requests. */
  readonly turns: number | null
}

const nothing: RunSpent = { usd: null, minutes: 0, unknown: false, turns: 0 }

const empty = {
  limits: null,
  agent: undefined,
  raises: {},
  run: nothing,
  task: nothing,
  day: nothing,
  agent_day: nothing,
}

export function createRunLimits(context: Ground, running: () => Iterable<WatchedRun>): RunLimits {
  const since = () => {
    const day = new Date(context.clock.now())
    day.setHours(0, 0, 0, 0)
    return day.toISOString()
  }
  /** Sums up ended runs, because a run saves its cost only at its end. */
  const spent = (q: Queries, scope: SpentScope, fits: (record: ExecutionRecord) => boolean) => {
    const sum = q.usage.spent(scope, nowIso(context))
    const live = [...running()].flatMap(({ record, meter }) => (fits(record) ? [meter] : []))
    const costs = [sum.usd, ...live.map((meter) => meter.usd())].filter((usd) => usd !== null)
    const usd = costs.length === 0 ? null : costs.reduce((all, one) => all + one, 0)
    return {
      executions: sum.executions,
      usd,
      minutes: sum.minutes,
      unknown: sum.unknown > 0 || live.some((meter) => meter.isIncomplete()),
    }
  }
  const today: RunLimits['today'] = (q, scope) =>
    'agent_id' in scope
      ? spent(q, { ...scope, since: since() }, (record) => record.agent_id === scope.agent_id)
      : spent(q, { ...scope, since: since() }, (record) => record.project_id === scope.project_id)
  const uses: RunLimits['uses'] = (q, task, agent, run = nothing) => {
    const project = q.projects.get(task.project_id)
    const limits = project ? toSettings(project).limits : null
    if (!hasAny(limits) && !hasAny(agent?.config.limits)) return []
    return usesOf({
      limits,
      agent: agent?.config.limits,
      raises: task.limits?.raises ?? {},
      run,
      // The sum reads many runs, so it is computed only if a limit needs it.
      task: limits?.per_task ? spent(q, { task_id: task.id }, (record) => record.task_id === task.id) : nothing,
      day: limits?.per_day ? today(q, { project_id: task.project_id }) : nothing,
      agent_day: agent?.config.limits?.per_day ? today(q, { agent_id: agent.id }) : nothing,
    })
  }
  const reached: RunLimits['reached'] = (q, task, agent) => (agent ? findReached(uses(q, task, agent)) : null)
  return {
    uses,
    reached,
    today,
    since,
    ofProject: (q, { id, settings }) =>
      usesOf({
        ...empty,
        limits: { ...(settings.limits ?? defaultLimits), per_run: null, per_task: null },
        day: today(q, { project_id: id }),
      }),
    ofAgent: (q, { id, config }) =>
      config.limits ? usesOf({ ...empty, agent: config.limits, agent_day: today(q, { agent_id: id }) }) : [],
    spentBy: (record) => {
      const live = [...running()].find((run) => run.record.id === record.id)
      if (live) return spentOf(context, live)
      const { usage, started_at, finished_at } = record
      const end = finished_at === null ? context.clock.now() : Date.parse(finished_at)
      return {
        usd: usage?.cost_usd ?? null,
        minutes: started_at === null ? 0 : (end - Date.parse(started_at)) / 60_000,
        turns: turnsOf(record, usage?.turns ?? 0),
        unknown: (usage?.cost_usd ?? null) === null || usage?.incomplete === true,
      }
    },
    holds: (q, { task_id, agent_id }) => {
      const task = agent_id === null ? null : q.tasks.get(task_id)
      return task ? reached(q, task, agent_id === null ? null : q.agents.get(agent_id)) : null
    },
    look: (record, run) => {
      const { read } = context.store
      const task = read.tasks.get(record.task_id)
      const agent = record.agent_id === null ? null : read.agents.get(record.agent_id)
      if (!task || !agent) return []
      const found = uses(read, task, agent, run)
      if (findReached(found) === null) warn(context, task, found)
      return found
    },
  }
}

const hasAny = (limits: object | null | undefined): boolean =>
  Object.values(limits ?? {}).some((scope) => typeof scope === 'object' && scope !== null)

/** Warns once per limit, and again only after the limit was raised. */
function warn(context: Ground, { id, project_id }: TaskRecord, uses: readonly LimitUse[]): void {
  const project = context.store.read.projects.get(project_id)
  const { warn_at } = (project && toSettings(project).limits) ?? defaultLimits
  const near = uses.filter(({ spent, allowed }) => spent !== null && spent >= allowed * warn_at)
  const known = context.store.read.tasks.get(id)?.limits?.warned ?? {}
  if (near.every(({ limit, allowed }) => known[limit] === allowed)) return
  context.feed.commit((tx) => {
    const task = tx.tasks.get(id)
    if (!task) return
    const limits = task.limits ?? { raises: {}, warned: {} }
    const news = near.filter(({ limit, allowed }) => limits.warned[limit] !== allowed)
    for (const { limit, allowed, spent } of news) {
      const body = `${limitAmount(limit, spent ?? 0)} of ${limitAmount(limit, allowed)} for ${limitScope(limit)}. At the limit its agent stops; the work is kept.`
      notify(context, tx, task, { event_type: 'limit.warning', body })
    }
    const warned = { ...limits.warned, ...Object.fromEntries(news.map(({ limit, allowed }) => [limit, allowed])) }
    tx.saveTask({ ...task, limits: { ...limits, warned } })
  })
}

/**
 * Grace of a run at its limit: to end by itself after its final figures, if its turns have no recognisable end, and
 * to end after TERM.
 */
const endsSoonMs = 1_000

/** How often the limits of a run without output are checked. */
const lookEveryMs = 15_000

/**
 * Ends a run when it reaches a limit; checked at each of its entries and when its minutes are over. Returns functions
 * to report news of the run and to end the watch.
 */
export function watchLimits(
  context: Ground,
  limits: RunLimits,
  run: WatchedRun,
): { readonly look: () => void; readonly end: () => void } {
  const { record } = run
  let timer: NodeJS.Timeout | undefined
  let ending: ReachedLimit | null = null
  const stopAt = (process: Pick<RunningExecution, 'stop'>, hit: ReachedLimit): void => {
    if (run.limit !== null || run.stopped !== null) return
    run.limit = hit
    // An agent that ignores TERM spends on.
    void process.stop({ graceMs: endsSoonMs })
  }
  const look = (): void => {
    clearTimeout(timer)
    const { live } = run
    // The run has not ended by itself since it reached the limit, so stop it.
    if (live !== null && ending !== null) {
      stopAt(live.process, ending)
      return
    }
    if (live === null || run.limit !== null || run.stopped !== null) return
    const spent = spentOf(context, run)
    const found = limits.look(record, spent)
    const hit = findReached(found)
    if (hit !== null && live.process.isTurnOver?.() !== true) {
      ending = hit
      if (live.process.isTurnOver) stopAt(live.process, hit)
      else timer = setTimeout(() => stopAt(live.process, hit), hit.limit.endsWith('.minutes') ? 0 : endsSoonMs)
      return
    }
    // An agent at the end of its turn is not stopped: it exits by itself, and its work counts.
    const left = found.map(({ limit, allowed, spent: used }) =>
      limit.endsWith('.minutes') ? Math.max(1, (allowed - (used ?? 0)) * 60_000) : lookEveryMs,
    )
    if (left.length > 0) timer = setTimeout(look, Math.min(lookEveryMs, ...left))
  }
  return { look, end: () => clearTimeout(timer) }
}

/** An agent that may report its requests, and has not, has not made none. */
function turnsOf({ executor }: ExecutionRecord, turns: number): number | null {
  const isSeen = executor === 'person' || executorInfos[executor].figures.turns === 'seen'
  return turns > 0 || isSeen ? turns : null
}

const spentOf = ({ clock }: Ground, { record, meter, startedAt }: WatchedRun): RunSpent => ({
  usd: meter.usd(),
  minutes: (clock.now() - startedAt) / 60_000,
  turns: turnsOf(record, meter.turns()),
  unknown: meter.usd() === null || meter.isIncomplete(),
})
