import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, RepoId, TaskId } from '../../src-shared/contract/ids.ts'
import type { LandingLane, LandingResult } from '../../src-shared/contract/landing.ts'
import type { Ground } from '../core/ground.ts'
import type { LandingGround } from './landing-ground.ts'
import { toSettings } from '../core/views.ts'
import type { MergeRequest } from '../ports/branch-ref.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { ProjectRecord, RepoRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { readHealth, saveHealth } from './base-health.ts'
import { createLane, type Lane, type LaneEnd, type LaneWork, type Merged } from './lane.ts'
import { noteBaseMove } from './merge-records.ts'
import { createScratchRuns, type RunInScratch } from './run-in-scratch.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

/** A task that asks to land. */
export interface LandRequest {
  readonly task: TaskRecord
  readonly project: ProjectRecord
  readonly merge: MergeRequest
  /** The tree that its review judged; null without one. */
  readonly judged_tree: string | null
  /** It lands although the checks of its base fail. */
  readonly on_red: boolean
}

/** What a caller who waits is told. */
interface LandingEnd {
  readonly result: LandingResult
  /** In place of the result: why nothing was merged, where that is nothing that the work can help. */
  readonly refusal?: Refusal
}

export interface Landing {
  /** Lands a task on its base branch in its turn; how that ended. Aborted, it leaves the lane as long as it does not move. */
  land(request: LandRequest, signal: AbortSignal): Promise<LaneEnd>
  /** Takes a task out of its lane; false when it is in none or moves already. */
  remove(task_id: TaskId): boolean
  /** Keeps how a task's last move into a state that merges ended, for the caller that waits for it. */
  noteEnd(task_id: TaskId, end: LandingEnd): void
  lastEnd(task_id: TaskId): LandingEnd | null
  forgetEnd(task_id: TaskId): void
  /** Resolves when the checks of the task's merge run, or wait for those of others. */
  untilDeferred(task_id: TaskId, signal: AbortSignal): Promise<void>
  lanes(project: ProjectRecord): Promise<readonly LandingLane[]>
  /** Starts the checks on a branch's tip. */
  check(project: ProjectRecord, repo: RepoRecord, branch: string): Promise<LandingLane | Refusal>
  /** Returns the failing step of a base that is known to be red. */
  redStep(repo_id: RepoId, repo_path: string, branch: string): Promise<string | null>
  close(): Promise<void>
}

/** How many tasks are tested together at most. */
const widestWindow = 64
/** How long changes of a lane are gathered before they are told. */
const emitDelayMs = 80

interface OpenLane {
  readonly lane: Lane<LandRequest>
  readonly repo_path: string
  readonly branch: string
  tip: string | null
  /** The newest task that joined: its project's settings count. */
  latest: LandRequest
}

export function createLanding(context: LandingGround): Landing {
  const { read } = context.store
  const { target } = context
  const lanes = new Map<string, OpenLane>()
  const ends = new Map<TaskId, LandingEnd>()
  const joined = new Map<TaskId, { readonly lane: Lane<LandRequest>; readonly request: LandRequest }>()
  const watchers = new Set<() => void>()
  const checks = new Map<string, Promise<void>>()
  const closing = new AbortController()
  const runInScratch = createScratchRuns(context)
  const teller = createTeller(context, (open) => checks.has(keyOf(open.repo_path, open.branch)))

  const laneOf = (request: LandRequest): OpenLane => {
    const { repo_path, base_branch: branch } = request.merge
    const key = keyOf(repo_path, branch)
    const known = lanes.get(key)
    if (known) {
      known.latest = request
      return known
    }
    const limits = () => {
      const { mode, max_parallel } = toSettings(open.latest.project).landing
      return mode === 'speculative' ? { window: widestWindow, max_parallel } : { window: 1, max_parallel: 1 }
    }
    const onChange = () => {
      for (const watcher of watchers) watcher()
      teller.tell(open)
    }
    const work = createWork(context, { repo_path, branch, runInScratch, onTip: (tip) => (open.tip = tip) })
    const lane = createLane(work, { limits, onChange, now: () => context.clock.now() })
    const open: OpenLane = { lane, repo_path, branch, tip: null, latest: request }
    lanes.set(key, open)
    return open
  }

  const stepsOfBase = ({ settings }: { readonly settings: ReturnType<typeof toSettings> }): readonly string[] =>
    settings.landing.steps ?? [...new Set(settings.default_review_config.ci_steps)]

  const viewOf = async (project: ProjectRecord, repo: RepoRecord, branch: string): Promise<LandingLane> => {
    const signal = closing.signal
    const commit = await target.tip(repo.path, branch, { signal }).catch(() => null)
    const open = lanes.get(keyOf(repo.path, branch))
    const checking = checks.has(keyOf(repo.path, branch))
    return describe(context, { project_id: project.id, repo_id: repo.id, branch, commit, open, checking })
  }

  return {
    land: async (request, signal) => {
      const { id } = request.task
      const { lane } = laneOf(request)
      joined.set(id, { lane, request })
      try {
        return await lane.join(request, signal)
      } finally {
        joined.delete(id)
      }
    },
    remove: (task_id) => {
      const place = joined.get(task_id)
      return place !== undefined && place.lane.remove(place.request)
    },
    noteEnd: (task_id, end) => void ends.set(task_id, end),
    lastEnd: (task_id) => ends.get(task_id) ?? null,
    forgetEnd: (task_id) => void ends.delete(task_id),
    untilDeferred: async (task_id, signal) => {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const look = () => {
        const places = joined.get(task_id)?.lane.places() ?? []
        const index = places.findIndex(({ task }) => task.task.id === task_id)
        if (index >= 0 && places.slice(0, index + 1).some(({ state }) => state === 'testing')) resolve(undefined)
      }
      const stop = () => resolve(undefined)
      watchers.add(look)
      signal.addEventListener('abort', stop, { once: true })
      look()
      await promise.finally(() => {
        watchers.delete(look)
        signal.removeEventListener('abort', stop)
      })
    },
    lanes: async (project) => {
      const repos = read.repos.byProject(project.id)
      const all = repos.flatMap((repo) => branchesOf(context, lanes.values(), repo).map((branch) => ({ repo, branch })))
      return await Promise.all(all.map(({ repo, branch }) => viewOf(project, repo, branch)))
    },
    check: async (project, repo, branch) => {
      const steps = stepsOfBase({ settings: toSettings(project) })
      if (steps.length === 0)
        return { code: 'no_steps', message: 'No checks are set up for landing. Add default checks or landing steps.' }
      const signal = closing.signal
      const commit = await target.tip(repo.path, branch, { signal })
      if (commit === null) return { code: 'branch_missing', message: `No branch “${branch}” in ${repo.path}.` }
      const key = keyOf(repo.path, branch)
      const run = async (): Promise<void> => {
        const scratch = { project, repo_path: repo.path, commit, steps, task: null }
        const end = await runInScratch(scratch, closing.signal)
        if (end.kind === 'broken')
          context.log.warn({ branch, reason: end.message }, 'a base branch could not be checked')
        await saveHealth(context, { repo_id: repo.id, branch }, commit, end)
      }
      const emitNow = async () => teller.emit(project.id, await viewOf(project, repo, branch))
      if (!checks.has(key)) {
        const checked = run().catch((error: unknown) => {
          if (!closing.signal.aborted) context.log.error({ err: error, branch }, 'the check of a base branch broke')
        })
        const checking = afterwards(checked, async () => {
          checks.delete(key)
          if (!closing.signal.aborted) await emitNow()
        })
        checks.set(key, checking)
        await emitNow()
      }
      return await viewOf(project, repo, branch)
    },
    redStep: async (repo_id, repo_path, branch) => {
      const known = read.base_health.get(repo_id, branch)
      if (known?.health !== 'red') return null
      const commit = await target.tip(repo_path, branch, { signal: closing.signal })
      return commit === known.commit ? (known.step ?? '') : null
    },
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      teller.close()
      await Promise.all([...[...lanes.values()].map(({ lane }) => lane.close()), ...checks.values()])
    },
  }
}

const keyOf = (repo_path: string, branch: string): string => `${repo_path}\0${branch}`

/** The default branch always, and whatever else is known to be landed on. */
function branchesOf({ store }: Ground, open: Iterable<OpenLane>, repo: RepoRecord): readonly string[] {
  const lanes = [...open].filter(({ repo_path, lane }) => repo_path === repo.path && lane.places().length > 0)
  const known = store.read.base_health.ofRepo(repo.id)
  return [...new Set([repo.default_branch, ...known.map(({ branch }) => branch), ...lanes.map(({ branch }) => branch)])]
}

interface Described {
  readonly project_id: ProjectId
  readonly repo_id: RepoId
  readonly branch: string
  readonly commit: string | null
  readonly open: OpenLane | undefined
  readonly checking: boolean
}

function describe(context: Ground, lane: Described): LandingLane {
  const { project_id, repo_id, branch, commit, open, checking } = lane
  const places = open?.lane.places() ?? []
  const isOwn = ({ task }: LandRequest) => task.project_id === project_id
  return {
    repo_id,
    branch,
    commit,
    ...readHealth(context, { repo_id, branch }, commit),
    checking,
    tasks: places.flatMap((place, index) =>
      isOwn(place.task)
        ? [
            {
              task_id: place.task.task.id,
              position: index + 1,
              state: place.state,
              with: place.with.filter(isOwn).map(({ task }) => task.id),
              steps: [...place.steps],
              started_at: toTimestamp(place.started_at),
              lands_at: toTimestamp(place.lands_at),
            },
          ]
        : [],
    ),
  }
}

const toTimestamp = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Tells clients of a lane's changes, several at once. */
function createTeller(context: Ground, isChecked: (open: OpenLane) => boolean) {
  const due = new Set<OpenLane>()
  const told = new Map<string, string>()
  let timer: NodeJS.Timeout | null = null
  const emit = (project_id: ProjectId, lane: LandingLane) => {
    const key = `${project_id}\0${lane.repo_id}\0${lane.branch}`
    const text = JSON.stringify(lane)
    if (told.get(key) === text) return
    told.set(key, text)
    // Nothing waits for this: while the database takes no writes, it is tried again.
    const write = () =>
      context.feed.commit((tx) => {
        if (tx.projects.get(project_id)) tx.emit('landing.updated', { project_id, lane })
      })
    context.writes.untilWritten(write).catch((error: unknown) => {
      context.log.warn({ err: error, branch: lane.branch }, 'a change of a lane could not be told')
    })
  }
  const flush = () => {
    timer = null
    const open = [...due]
    due.clear()
    for (const one of open) {
      for (const project of projectsOf(context, one)) {
        const { repo_id, project_id } = project
        emit(
          project_id,
          describe(context, {
            project_id,
            repo_id,
            branch: one.branch,
            commit: one.tip,
            open: one,
            checking: isChecked(one),
          }),
        )
      }
    }
  }
  return {
    emit,
    tell: (open: OpenLane) => {
      due.add(open)
      timer ??= setTimeout(flush, emitDelayMs)
    },
    close: () => {
      if (timer) clearTimeout(timer)
    },
  }
}

/** The projects whose tasks are in a lane, and that of the task which joined last. */
function projectsOf({ store }: Ground, { lane, latest }: OpenLane) {
  const tasks = [latest, ...lane.places().map(({ task }) => task)].map(({ task }) => task)
  const found = new Map(tasks.map(({ project_id, repo_id }) => [project_id, { project_id, repo_id }]))
  return [...found.values()].filter(({ project_id }) => store.read.projects.get(project_id) !== null)
}

interface LaneSite {
  readonly repo_path: string
  readonly branch: string
  readonly runInScratch: RunInScratch
  /** Told what the branch points at. */
  readonly onTip: (tip: string) => void
}

/** What a lane does in its repository. */
function createWork(
  context: LandingGround,
  { repo_path, branch, runInScratch, onTip }: LaneSite,
): LaneWork<LandRequest> {
  const { target } = context
  // A merge that has begun is finished; before that, a task can still leave the lane.
  const signal = new AbortController().signal
  const stepsOfTask = ({ task, project }: LandRequest): readonly string[] => {
    const { landing, default_review_config } = toSettings(project)
    return landing.steps ?? [...task.review_config.ci_steps, ...default_review_config.ci_steps]
  }
  const runOn = (request: LandRequest, commit: string, steps: readonly string[], stop: AbortSignal) =>
    runInScratch({ project: request.project, repo_path, commit, steps, task: request.task }, stop)
  return {
    tip: async () => {
      const tip = await target.tip(repo_path, branch, { signal })
      if (tip === null)
        throw new WorkspaceError('git_failed', `No branch “${branch}” in ${repo_path}. Create it, then try again.`)
      onTip(tip)
      return tip
    },
    prepare: ({ merge }, onto) => target.prepareMerge({ ...merge, onto }, { signal }),
    stepsOf: (merged) => stepsToRun(merged, stepsOfTask),
    run: (merged, steps, stop) => {
      const last = merged.at(-1)
      if (!last) throw new Error('There is nothing to test.')
      return runOn(last.task, last.merge.commit, steps, stop)
    },
    runBase: async (commit, steps, request, stop) => {
      const { repo_id } = request.task
      const known = readHealth(context, { repo_id, branch }, commit)
      if (known.health === 'green') return { kind: 'passed', flaky: [] }
      const end = await runOn(request, commit, steps, stop)
      stop.throwIfAborted()
      await saveHealth(context, { repo_id, branch }, commit, end)
      return end
    },
    move: async (merged) => {
      for (const { task, merge } of merged) {
        const { target: below, head, commit } = merge
        const move = { from: below.commit, to: commit, head: head.commit }
        if (move.from !== move.to) noteBaseMove(context, task.task.id, branch, move)
      }
      return await target.moveTarget(
        merged.map(({ task, merge }) => ({ request: task.merge, prepared: merge })),
        { signal },
      )
    },
    landsOnRed: ({ on_red }) => on_red,
    landed: async (commit, end, last) => {
      onTip(commit)
      const { repo_id } = last.task.task
      const isJudged = last.merge.tree === last.task.judged_tree && last.task.task.review_config.ci_steps.length > 0
      const known = end ?? (isJudged ? ({ kind: 'passed', flaky: [] } as const) : null)
      if (known) await saveHealth(context, { repo_id, branch }, commit, known)
    },
    touches: ({ merge }, files) => target.mergeTouches(repo_path, merge, files, { signal }),
  }
}

/** Nothing is to be tested where the merge changes nothing, or makes just the tree that the review judged. */
function stepsToRun(
  merged: readonly Merged<LandRequest>[],
  stepsOfTask: (request: LandRequest) => readonly string[],
): readonly string[] {
  const [first, last] = [merged[0], merged.at(-1)]
  if (!first || !last) return []
  const isBase = last.merge.tree === first.merge.target.tree
  if (isBase || last.merge.tree === last.task.judged_tree) return []
  return [...new Set(merged.flatMap(({ task }) => stepsOfTask(task)))]
}
