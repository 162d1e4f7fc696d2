/** How long calls took, in milliseconds. */
export interface Latency {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Observed {
  readonly latencies: Readonly<Record<string, Latency>>
  /** By what was refused or failed, how often. */
  readonly failures: Readonly<Record<string, number>>
}

/** Collects how long calls take, and which fail, until it is read. */
export function createObserver() {
  let times = new Map<string, number[]>()
  let failures = new Map<string, number>()
  const note = (what: string, ms: number): void => {
    const known = times.get(what)
    if (known) known.push(ms)
    else times.set(what, [ms])
  }
  const fail = (what: string, error: unknown): void => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const key = `${what}: ${code}`
    failures.set(key, (failures.get(key) ?? 0) + 1)
  }
  return {
    note,
    fail,
    /** Notes how long a call takes; `waited`: how much of it was asked for. */
    timed: async <T>(what: string, call: () => Promise<T>, waited: (answer: T) => number = () => 0): Promise<T> => {
      const since = performance.now()
      const answer = await call()
      note(what, Math.max(0, performance.now() - since - waited(answer)))
      return answer
    },
    /** Returns what was seen since it was read last. */
    read: (): Observed => {
      const seen = { latencies: Object.fromEntries([...times].map(([what, all]) => [what, latencyOf(all)])) }
      const failed = Object.fromEntries(failures)
      times = new Map()
      failures = new Map()
      return { ...seen, failures: failed }
    },
  }
}

export type Observer = ReturnType<typeof createObserver>

export function latencyOf(values: readonly number[]): Latency {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}
