/** What came together and is dealt with at once. */
export interface ChangeBatch {
  /** Names in the tree, `moved` where they came, went or were replaced. */
  readonly keys: ReadonlyMap<string, { readonly moved: boolean }>
  /** More came than was kept. */
  readonly overflowed: boolean
  /** HEAD or the index changed. */
  readonly git: boolean
}

export interface Timing {
  /** Dealt with when nothing has come for this long, */
  readonly quietMs: number
  /** or so long after the first at the latest, */
  readonly latestMs: number
  /** but never so shortly after the last time. */
  readonly pauseMs: number
}

export const defaultDebounce: Timing = { quietMs: 150, latestMs: 1_000, pauseMs: 500 }

const maxKeys = 500

/** Gathers what comes in a burst and hands it to `handle`, never twice at the same time. */
export function createEventBatcher(timing: Timing, handle: (gathered: ChangeBatch) => Promise<void>) {
  let keys = new Map<string, { moved: boolean }>()
  let overflowed = false
  let git = false
  let first: number | null = null
  let after = 0
  let timer: NodeJS.Timeout | null = null
  let working: Promise<void> | null = null
  let closed = false

  const arm = () => {
    if (closed || first === null) return
    if (timer) clearTimeout(timer)
    const now = performance.now()
    const due = Math.max(Math.min(now + timing.quietMs, first + timing.latestMs), after)
    timer = setTimeout(start, Math.max(0, due - now))
  }
  const start = () => {
    timer = null
    // Later events arm the timer when this is done.
    if (working || closed) return
    const gathered: ChangeBatch = { keys, overflowed, git }
    keys = new Map()
    overflowed = git = false
    first = null
    working = handle(gathered).finally(() => {
      working = null
      after = performance.now() + timing.pauseMs
      arm()
    })
  }
  const came = () => {
    first ??= performance.now()
    arm()
  }
  return {
    name: (key: string, moved: boolean): void => {
      const known = keys.get(key)
      if (known) known.moved ||= moved
      else if (keys.size < maxKeys) keys.set(key, { moved })
      else overflowed = true
      came()
    },
    git: (): void => {
      git = true
      came()
    },
    /** Settles when what is being dealt with is done; nothing follows. */
    close: async (): Promise<void> => {
      closed = true
      if (timer) clearTimeout(timer)
      await working
    },
  }
}
