import type { ProjectId, RunnerId } from '../../../src-shared/contract/ids.ts'
import type { WaitReason } from '../../../src-shared/contract/queue.ts'
import type { RunnerState } from '../../../src-shared/contract/runners.ts'

/** A runner as the queue sees it. */
export interface RunnerLoad {
  readonly state: RunnerState
  /** null: without a limit. */
  readonly capacity: number | null
  /** The projects whose runs it takes; null: of all. */
  readonly projects: readonly ProjectId[] | null
  /** How many runs of each project are on it. */
  readonly running: ReadonlyMap<ProjectId, number>
  /** When a run of each project last started there, as a number that grows with each start. */
  readonly served: ReadonlyMap<ProjectId, number>
}

/** A queued run; `candidates` is null for a run that has no runner. */
export interface Startable {
  readonly project_id: ProjectId
  readonly candidates: readonly RunnerId[] | null
}

export type RunnerChoice =
  | { readonly runner_id: RunnerId | null; readonly reason: null }
  | { readonly runner_id: null; readonly reason: WaitReason }

/**
 * Says which queued runs can start now and where, and why the others wait. Those of one project start in their order.
 * Where a runner has fewer places than projects want, the project with the fewest runs on it comes first, then the one
 * whose last start there is longest ago.
 *
 * `waits` says why a run can't start anywhere; `take` is called for each run that starts, so that `waits` knows of it.
 */
export function planStarts<R extends Startable>(
  queued: readonly R[],
  runners: ReadonlyMap<RunnerId, RunnerLoad>,
  { waits, take }: { readonly waits: (run: R) => WaitReason | null; readonly take: (run: R) => void },
): ReadonlyMap<R, RunnerChoice> {
  const choices = new Map<R, RunnerChoice>()
  const loads = createLoads(runners)
  const lines = [...Map.groupBy(queued, ({ project_id }) => project_id).values()].map((runs) => ({ runs, next: 0 }))
  const start = (run: R, runner_id: RunnerId | null) => {
    choices.set(run, { runner_id, reason: null })
    if (runner_id !== null) loads.take(runner_id, run.project_id)
    take(run)
  }
  /** Goes along a project's line up to the first run that needs a place others may want. */
  const contenderOf = (line: (typeof lines)[number]): Contender<R> | null => {
    for (let run = line.runs[line.next]; run !== undefined; run = line.runs[++line.next]) {
      const reason = waits(run)
      const choice: RunnerChoice = reason === null ? loads.choose(run) : { runner_id: null, reason }
      if (choice.reason !== null) choices.set(run, choice)
      else if (choice.runner_id === null || !loads.isLimited(choice.runner_id)) start(run, choice.runner_id)
      else return { line, run, runner_id: choice.runner_id, ...loads.shareOf(choice.runner_id, run.project_id) }
    }
    return null
  }
  for (;;) {
    const contenders = lines.flatMap((line) => contenderOf(line) ?? [])
    if (contenders.length === 0) return choices
    // One start on each runner, so that no project falls back on one while it waits for another.
    for (const [runner_id, rivals] of Map.groupBy(contenders, (one) => one.runner_id)) {
      const next = rivals.reduce((best, one) => (comesBefore(one, best) ? one : best))
      start(next.run, runner_id)
      next.line.next += 1
    }
  }
}

interface Share {
  readonly running: number
  readonly served: number
}

interface Contender<R> extends Share {
  readonly line: { next: number }
  readonly run: R
  readonly runner_id: RunnerId
}

const comesBefore = (one: Share, other: Share): boolean =>
  one.running === other.running ? one.served < other.served : one.running < other.running

/** Returns the first candidate that is ready and has room, else why there is none. */
export function chooseRunner(
  { project_id, candidates }: Startable,
  runners: ReadonlyMap<RunnerId, RunnerLoad>,
): RunnerChoice {
  if (candidates === null) return { runner_id: null, reason: null }
  const ready = candidates.filter((id) => {
    const { state, projects = [] } = runners.get(id) ?? {}
    return state === 'ready' && (projects === null || projects.includes(project_id))
  })
  const free = ready.find((id) => hasRoom(runners.get(id)))
  if (free !== undefined) return { runner_id: free, reason: null }
  return { runner_id: null, reason: ready.length === 0 ? 'runner_unreachable' : 'runner_full' }
}

function hasRoom(load: RunnerLoad | undefined): boolean {
  if (load === undefined) return false
  return load.capacity === null || [...load.running.values()].reduce((sum, n) => sum + n, 0) < load.capacity
}

/** Counts the runs that are about to start with those that run. */
function createLoads(given: ReadonlyMap<RunnerId, RunnerLoad>) {
  const loads = new Map(given)
  let served = Math.max(0, ...[...given.values()].flatMap((load) => [...load.served.values()]))
  return {
    choose: (run: Startable) => chooseRunner(run, loads),
    isLimited: (id: RunnerId) => loads.get(id)?.capacity !== null,
    shareOf: (id: RunnerId, project_id: ProjectId): Share => ({
      running: loads.get(id)?.running.get(project_id) ?? 0,
      served: loads.get(id)?.served.get(project_id) ?? 0,
    }),
    take: (id: RunnerId, project_id: ProjectId) => {
      const load = loads.get(id)
      if (!load) return
      served += 1
      loads.set(id, {
        ...load,
        running: new Map(load.running).set(project_id, (load.running.get(project_id) ?? 0) + 1),
        served: new Map(load.served).set(project_id, served),
      })
    },
  }
}
