import { hookEvents, type HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { ErrorAnnotation, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import { hookPhases } from '../../../src-shared/contract/workflow-definition.ts'
import { skippedOnce, type SkippedOnce } from '../../formatters/hook-reason.ts'

/** The runs of an event, newest first. */
export interface RunGroup {
  readonly event: HookRun['event']
  readonly runs: readonly HookRun[]
}

/** The number of a run among the attempts of a blocking hook. */
export interface Attempt {
  readonly number: number
  readonly of: number
}

const events: readonly HookRun['event'][] = [...hookEvents, ...hookPhases]

/** Returns the runs by event, in the order of a task's life, so that a new run moves no group. */
export function groupRuns(runs: readonly HookRun[]): RunGroup[] {
  return events.flatMap((event) => {
    const ofEvent = runs.filter((run) => run.event === event)
    return ofEvent.length === 0 ? [] : [{ event, runs: ofEvent }]
  })
}

export const resultFilters = ['all', 'running', 'failed', 'timed_out', 'skipped', 'succeeded'] as const
export type ResultFilter = (typeof resultFilters)[number]

/** Returns the runs whose event, script or plugin contains `text` and that have the result. */
export function filterRuns(runs: readonly HookRun[], text: string, result: ResultFilter): HookRun[] {
  const wanted = text.trim().toLowerCase()
  return runs.filter((run) => {
    if (result !== 'all' && run.status !== result) return false
    return [run.event, run.command ?? '', run.plugin ?? ''].some((part) => part.toLowerCase().includes(wanted))
  })
}

function hasFailed(run: HookRun): boolean {
  return run.status === 'failed' || run.status === 'timed_out'
}

/**
 * Returns whether a run blocks the task: a blocking hook, or the script of a state. Only these are
 * retried.
 */
function isBlocking(run: HookRun): boolean {
  return run.blocking || hookPhases.some((phase) => phase === run.event)
}

/** Returns who skipped a failed hook and why, by log name of the failed run. */
export function skipsOf(entries: readonly Pick<TransitionEntry, 'hooks'>[]): ReadonlyMap<string, SkippedOnce> {
  return new Map(
    entries
      .flatMap(({ hooks }) => hooks)
      .flatMap(({ outcome, log_name, reason }) => {
        const skip = outcome === 'skipped' && reason !== undefined ? skippedOnce(reason) : null
        return log_name !== undefined && skip ? [[log_name, skip] as const] : []
      }),
  )
}

/**
 * Returns the attempt number of each run of a blocking hook by log name. A series continues while
 * its attempts fail; after a success or a skip a new one starts.
 */
export function attemptsOf(
  runs: readonly HookRun[],
  skips: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, Attempt> {
  const series = new Map<string, HookRun[][]>()
  for (const run of [...runs].sort(byStart)) {
    if (!isBlocking(run) || run.status === 'skipped') continue
    const known = series.get(identity(run)) ?? []
    const last = known.at(-1)
    const before = last?.at(-1)
    if (last && before && hasFailed(before) && !skips.has(before.log_name)) last.push(run)
    else series.set(identity(run), [...known, [run]])
  }
  const tries = [...series.values()].flat()
  return new Map(
    tries.flatMap((list) => list.map((run, at) => [run.log_name, { number: at + 1, of: list.length }] as const)),
  )
}

/** Returns the failed run that blocks the task; null if none of `runs` does. */
export function heldRun(runs: readonly HookRun[], annotation: ErrorAnnotation | null): HookRun | null {
  if (annotation?.type !== 'hook_failed' || annotation.recovery_actions.length === 0) return null
  const failed = runs.filter(hasFailed)
  if (annotation.log_name !== undefined) return failed.find((run) => run.log_name === annotation.log_name) ?? null
  return failed.find(isBlocking) ?? failed[0] ?? null
}

/** Returns the run to show first: the one that blocks, else one that runs, else the newest. */
export function firstRun(runs: readonly HookRun[], annotation: ErrorAnnotation | null): HookRun | null {
  return heldRun(runs, annotation) ?? runs.find((run) => run.status === 'running') ?? runs[0] ?? null
}

/** Merges newly loaded runs into the known ones, newest first. */
export function mergeRuns(known: readonly HookRun[], read: readonly HookRun[]): HookRun[] {
  const byName = new Map(known.map((run) => [run.log_name, run]))
  for (const run of read) byName.set(run.log_name, run)
  return [...byName.values()].sort((a, b) => byStart(b, a))
}

/**
 * Returns whether the newest runs are incomplete: more than `limit` are new, or a known unfinished
 * run is older.
 */
export function leavesOut(known: readonly HookRun[], newest: readonly HookRun[], limit: number): boolean {
  if (newest.length < limit) return false
  const names = new Set(newest.map((run) => run.log_name))
  return (
    !known.some((run) => names.has(run.log_name)) ||
    known.some((run) => run.status === 'running' && !names.has(run.log_name))
  )
}

function identity(run: HookRun): string {
  return JSON.stringify([run.event, run.index, run.command ?? run.plugin ?? ''])
}

function byStart(a: HookRun, b: HookRun): number {
  return a.started_at.localeCompare(b.started_at) || a.index - b.index || a.log_name.localeCompare(b.log_name)
}
