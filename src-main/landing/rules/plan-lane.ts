/**
 * How the first tasks of a lane fare together: merged in their order on top of the base, their checks are running, have
 * passed or have failed.
 */
export type RunState = 'running' | 'passed' | 'failed'

export interface LaneFacts {
  /** How many tasks, counted from the first, may be tested together now. */
  readonly window: number
  /** The runs by how many tasks, counted from the first, each holds. */
  readonly runs: ReadonlyMap<number, RunState>
  /** How many runs there may be at a time. */
  readonly max_parallel: number
}

export type LaneStep =
  /** The first `count` tasks land together. */
  | { readonly kind: 'land'; readonly count: number }
  /** The first task fails on its own. */
  | { readonly kind: 'reject' }
  /** Runs to start and to stop, by how many tasks each holds; both empty: nothing to do until a run ends. */
  | { readonly kind: 'test'; readonly start: readonly number[]; readonly stop: readonly number[] }

/**
 * Decides the next step of a lane. All tasks are tried together first; after a failure the smallest failing part is
 * halved. With one run at a time the task at fault among n is found with ⌈log2 n⌉ + 1 runs at most; further slots take
 * halves in advance.
 */
export function planLane({ window, runs, max_parallel }: LaneFacts): LaneStep {
  const having = (state: RunState) => [...runs].flatMap(([count, is]) => (is === state ? [count] : []))
  const passed = Math.max(0, ...having('passed'))
  if (passed > 0) return { kind: 'land', count: passed }
  const failed = Math.min(Infinity, ...having('failed'))
  if (failed === 1) return { kind: 'reject' }
  const running = having('running')
  const stop = running.filter((count) => count > failed)
  const kept = running.filter((count) => count < failed)
  const start: number[] = []
  const isFree = () => kept.length + start.length < max_parallel
  // Tasks that came later are tested on top of the tasks under test.
  if (failed === Infinity && isFree() && window > Math.max(0, ...kept)) start.push(window)
  for (;;) {
    const half = Math.floor(Math.min(failed, ...kept, ...start) / 2)
    if (!Number.isFinite(half) || half < 1 || !isFree()) return { kind: 'test', start, stop }
    start.push(half)
  }
}
