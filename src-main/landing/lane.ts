import { BugError } from '../../src-shared/lang/bug-error.ts'
import { createLanePace } from './lane-pace.ts'
import { endOf, watch, type RunEnd } from './run-end.ts'
import { planLane, type RunState } from './rules/plan-lane.ts'
import type { MergeOnto, MovedTarget, PreparedMerge } from '../ports/target-mover.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'

/** How a task left its lane. */
export type LaneEnd =
  | {
      readonly kind: 'landed'
      readonly commit: string
      readonly empty: boolean
      readonly flaky: readonly string[]
      /** Why the merge could not be signed. */
      readonly unsigned?: string
    }
  | (Extract<RunEnd, { kind: 'failed' }> & { readonly commit: string; readonly base: string })
  | { readonly kind: 'broken'; readonly message: string }
  | Extract<PreparedMerge, { kind: 'conflict' }>
  /** The user's checkout has changes in files that the merge changes. */
  | { readonly kind: 'dirty'; readonly files: readonly string[] }
  /** The base fails the checks without the task. */
  | { readonly kind: 'base_red'; readonly step: string }
  /** A person, or another action on the task, took it out of the lane. */
  | { readonly kind: 'removed' }

/** What a lane asks of its surroundings. Each call may reject: then the first task leaves the lane with that error. */
export interface LaneWork<T> {
  /** The commit that the base branch points at. */
  tip(): Promise<string>
  prepare(task: T, onto: string): Promise<PreparedMerge>
  /** The checks that the merge of these tasks must pass; none where what it makes is known to be good. */
  stepsOf(merged: readonly Merged<T>[]): readonly string[]
  run(merged: readonly Merged<T>[], steps: readonly string[], signal: AbortSignal): Promise<RunEnd>
  /** Whether the base passes these checks by itself; asked when the first task fails them. */
  runBase(commit: string, steps: readonly string[], task: T, signal: AbortSignal): Promise<RunEnd>
  move(merged: readonly Merged<T>[]): Promise<MovedTarget>
  /** Notes that the base now is at a commit, and how its checks ended; null where nothing had to be run. */
  landed(commit: string, end: RunEnd | null, last: Merged<T>): Promise<void>
  /** Whether a task lands although the base fails its checks. */
  landsOnRed(task: T): boolean
  touches(merged: Merged<T>, files: readonly string[]): Promise<boolean>
}

export interface Merged<T> {
  readonly task: T
  readonly merge: MergeOnto
}

interface LaneLimits {
  /** How many tasks may be tested together. */
  readonly window: number
  readonly max_parallel: number
}

type PlaceState = 'waiting' | 'testing' | 'moving'

interface LanePlace<T> {
  readonly task: T
  readonly state: PlaceState
  /** Those before it in the lane, with which it is tested. */
  readonly with: readonly T[]
  readonly steps: readonly string[]
  readonly started_at: number | null
  /** When it will probably have landed; null while no landing of the lane is known. */
  readonly lands_at: number | null
}

export interface Lane<T> {
  /** Puts a task at the end of the lane; how it left. Aborted, it leaves as soon as nothing of it moves. */
  join(task: T, signal: AbortSignal): Promise<LaneEnd>
  /** Takes a task out; false when it is not in the lane, or moves already. */
  remove(task: T): boolean
  places(): readonly LanePlace<T>[]
  /** Ends the runs under way. Nothing moves afterwards. */
  close(): Promise<void>
}

interface LaneEntry<T> {
  readonly task: T
  readonly end: PromiseWithResolvers<LaneEnd>
  merge: MergeOnto | null
  moving: boolean
}

interface Run<T> {
  /** The last task that it holds, and so all before it. */
  readonly last: LaneEntry<T>
  readonly commit: string
  readonly steps: readonly string[]
  readonly started_at: number
  readonly controller: AbortController
  readonly done: Promise<void>
  end: RunEnd | null
}

export interface LaneOptions {
  readonly limits: () => LaneLimits
  readonly onChange: () => void
  readonly now: () => number
}

/** How often the base may be moved by others, or refuse to move, before the first task gives up. */
const patience = 5

/** The tasks that wait to land on one branch. Nothing of it outlives the process: who waits joins again. */
export function createLane<T>(work: LaneWork<T>, { limits, onChange, now }: LaneOptions): Lane<T> {
  let queue: LaneEntry<T>[] = []
  let runs: Run<T>[] = []
  let currentTurn: Promise<void> | null = null
  let again = false
  let closed = false
  let refused = 0
  let isBaseTested = false
  const ended = new Set<Promise<void>>()
  const pace = createLanePace<LaneEntry<T>>(now)

  const countOf = (run: Run<T>) => queue.indexOf(run.last) + 1
  /** Stops runs; resolves when nothing of them is left. */
  const drop = async (unwanted: (run: Run<T>) => boolean): Promise<void> => {
    const gone = runs.filter(unwanted)
    runs = runs.filter((run) => !gone.includes(run))
    for (const run of gone) run.controller.abort()
    await Promise.all(gone.map(({ done }) => done))
  }
  /** A place goes, and with it what was built on top of it. */
  const leave = async (place: LaneEntry<T>): Promise<void> => {
    const index = queue.indexOf(place)
    if (index < 0) return
    const stopped = drop((run) => countOf(run) > index)
    for (const later of queue.slice(index)) later.merge = null
    queue = queue.filter((one) => one !== place)
    pace.noteFirst(queue[0] ?? null)
    await stopped
  }
  const settle = (place: LaneEntry<T>, end: LaneEnd) => {
    void leave(place).then(() => {
      place.end.resolve(end)
    })
    onChange()
  }
  const wake = () => {
    again = true
    currentTurn ??= runSteps().finally(() => {
      currentTurn = null
      if (again && !closed) wake()
    })
  }
  const runSteps = async (): Promise<void> => {
    // `again` is read before each step: a change during a step asks for one more.
    while (takeWish() && queue.length > 0) {
      try {
        if (await step()) again = true
      } catch (error) {
        const first = queue[0]
        if (!first) continue
        void leave(first)
        first.end.reject(error instanceof Error ? error : new Error(String(error)))
        again = true
      }
    }
  }
  const takeWish = () => {
    const wished = again && !closed
    again = false
    return wished
  }

  /** Takes one step; whether another may follow at once. */
  const step = async (): Promise<boolean> => {
    const base = await work.tip()
    const merged = await prepareWindow(base)
    if (merged === null) return true
    const facts = new Map(runs.map((run): [number, RunState] => [countOf(run), stateOf(run)]))
    const plan = planLane({ window: merged.length, runs: facts, max_parallel: limits().max_parallel })
    if (plan.kind === 'land') {
      const count = plan.count
      return await land(merged.slice(0, count), runs.find((run) => countOf(run) === count) ?? null)
    }
    if (plan.kind === 'reject') return await reject(base)
    void drop((run) => plan.stop.includes(countOf(run)))
    for (const count of plan.start) start(merged.slice(0, count))
    return plan.start.length > 0 && runs.some((run) => run.end !== null)
  }

  /** Builds the merges of as many tasks as may be tested together; null when the lane changed on the way. */
  const prepareWindow = async (base: string): Promise<LaneEntry<T>[] | null> => {
    const places: LaneEntry<T>[] = []
    let onto = base
    for (const place of queue.slice(0, limits().window)) {
      if (place.merge?.target.commit !== onto) {
        const index = queue.indexOf(place)
        void drop((run) => countOf(run) > index)
        place.merge = null
        const made = await prepareOn(place, onto, places.length > 0)
        if (!queue.includes(place)) return null
        if (made === null) break
        if (made.kind === 'conflict') {
          // With those before it, which may not land. Only what it meets on the base is told.
          if (places.length > 0) break
          settle(place, made)
          return null
        }
        place.merge = made
      }
      places.push(place)
      onto = place.merge.commit
    }
    return places
  }

  /** null: it can't be built on those before it, which says nothing until they have landed. */
  const prepareOn = async (
    place: LaneEntry<T>,
    onto: string,
    isSpeculative: boolean,
  ): Promise<PreparedMerge | null> => {
    try {
      return await work.prepare(place.task, onto)
    } catch (error) {
      if (isSpeculative) return null
      throw error
    }
  }

  const start = (places: readonly LaneEntry<T>[]): void => {
    const last = places.at(-1)
    if (!last) return
    const all = places.map(mergedOf)
    const steps = work.stepsOf(all)
    const controller = new AbortController()
    const { signal } = controller
    const end = steps.length === 0 ? null : work.run(all, steps, signal)
    const run: Run<T> = {
      last,
      commit: last.merge?.commit ?? '',
      steps,
      started_at: now(),
      controller,
      end: end === null ? { kind: 'passed', flaky: [] } : null,
      done: watch(end, (result) => {
        run.end = result
        if (!signal.aborted) wake()
      }),
    }
    runs.push(run)
    ended.add(run.done)
    void run.done.then(() => ended.delete(run.done))
    if (end !== null) onChange()
  }

  const land = async (places: readonly LaneEntry<T>[], run: Run<T> | null): Promise<boolean> => {
    const all = places.map(mergedOf)
    const last = all.at(-1)
    if (!last) throw new BugError('Nothing to land.')
    for (const place of places) place.moving = true
    onChange()
    let moved: MovedTarget
    try {
      moved = await work.move(all)
    } finally {
      for (const place of places) place.moving = false
    }
    if (moved.kind === 'not_moved') {
      refused += 1
      if (refused >= patience) throw notMoving(moved.why)
      return true
    }
    if (moved.kind === 'dirty') {
      await sendBackDirty(places, moved.files)
      return true
    }
    refused = 0
    const { commit } = last.merge
    const landed = work.landed(commit, run && run.steps.length > 0 ? run.end : null, last)
    void drop((one) => countOf(one) <= places.length)
    pace.noteLanded()
    queue = queue.slice(places.length)
    pace.noteFirst(queue[0] ?? null)
    for (const place of places) {
      const empty = place.merge?.empty === true
      const unsigned = place.merge?.unsigned
      const flaky = run?.end?.kind === 'passed' ? run.end.flaky : []
      place.end.resolve({ kind: 'landed', commit, empty, flaky, ...(unsigned !== undefined && { unsigned }) })
    }
    await landed
    onChange()
    return true
  }

  const sendBackDirty = async (places: readonly LaneEntry<T>[], files: readonly string[]): Promise<void> => {
    const touching: LaneEntry<T>[] = []
    for (const place of places) if (await work.touches(mergedOf(place), files)) touching.push(place)
    for (const place of touching.length > 0 ? touching : places) settle(place, { kind: 'dirty', files })
  }

  /** The first task fails on the base: unless the base does too, it is at fault. */
  const reject = async (base: string): Promise<boolean> => {
    const first = queue[0]
    const run = runs.find((one) => one.last === first)
    if (!first || !run?.end || run.end.kind === 'passed') throw new BugError('No run has failed.')
    const { end, steps, commit } = run
    if (end.kind === 'broken') {
      settle(first, end)
      return true
    }
    isBaseTested = true
    onChange()
    const alone = await endOf(work.runBase(base, steps, first.task, run.controller.signal))
    isBaseTested = false
    // The task left while the base was tested.
    if (run.controller.signal.aborted) return true
    if (alone.kind === 'failed') {
      const isForced = (place: LaneEntry<T>) => work.landsOnRed(place.task)
      for (const place of queue.filter((one) => !isForced(one))) settle(place, { kind: 'base_red', step: alone.step })
      return isForced(first) ? await land([first], run) : true
    }
    settle(first, alone.kind === 'broken' ? alone : { ...end, commit, base })
    return true
  }

  const remove = (task: T): boolean => {
    const place = queue.find((one) => one.task === task)
    if (!place || place.moving) return false
    settle(place, { kind: 'removed' })
    wake()
    return true
  }
  return {
    join: async (task, signal) => {
      signal.throwIfAborted()
      if (closed) throw new Error('The service is stopping.')
      const place: LaneEntry<T> = { task, end: Promise.withResolvers<LaneEnd>(), merge: null, moving: false }
      queue.push(place)
      pace.noteFirst(queue[0] ?? null)
      const onAbort = () => void remove(task)
      signal.addEventListener('abort', onAbort, { once: true })
      onChange()
      wake()
      return await place.end.promise.finally(() => {
        signal.removeEventListener('abort', onAbort)
      })
    },
    remove,
    places: () => {
      const together = Math.max(1, ...runs.map(countOf))
      return queue.map((place, index) => {
        const isFirstTested = isBaseTested && index === 0
        const run = runs.find((one) => countOf(one) > index && (one.end === null || isFirstTested))
        return {
          task: place.task,
          state: place.moving ? 'moving' : run ? 'testing' : 'waiting',
          with: run
            ? queue
                .slice(0, countOf(run))
                .filter((one) => one !== place)
                .map((one) => one.task)
            : [],
          steps: run?.steps ?? [],
          started_at: run?.started_at ?? null,
          lands_at: pace.landsAt(index, together),
        }
      })
    },
    close: async () => {
      closed = true
      void drop(() => true)
      await Promise.all([...ended])
      await currentTurn
    },
  }
}

const notMoving = (why: string) =>
  new WorkspaceError(
    'git_failed',
    `The base branch could not be moved; something keeps changing it, or a hook of the repository forbids it. ${why}`.trim(),
  )

const stateOf = <T>({ end }: Run<T>): RunState =>
  end === null ? 'running' : end.kind === 'passed' ? 'passed' : 'failed'

function mergedOf<T>({ task, merge }: LaneEntry<T>): Merged<T> {
  if (!merge) throw new BugError('A task of the lane has no merge yet.')
  return { task, merge }
}
