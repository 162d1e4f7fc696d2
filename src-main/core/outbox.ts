import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'

/**
 * Pending work by lane: items of one lane run in order, lanes run side by side. An item stays in the store until it is
 * done (invariant I3).
 */
export interface Outbox<Lane extends string> {
  /** Checks a lane for work; called after every commit that may have added some. */
  wake(lane: Lane): void
  /** Aborts the running item of a lane, for the reason that `why` makes, and checks the lane again. */
  interrupt(lane: Lane, why: () => Error): void
  isIdle(lane: Lane): boolean
  /** Resolves once `isReached()` is true (checked after every item of the lane), or when `signal` aborts. */
  until(lane: Lane, isReached: () => boolean, signal?: AbortSignal): Promise<void>
  /** Starts nothing more, aborts the running items and waits until they have ended. */
  close(): Promise<void>
}

export interface OutboxDeps<Lane extends string, Item> {
  /** Returns the next item of a lane from the store; null when there is none. */
  readonly next: (lane: Lane) => Item | null
  /**
   * Performs the item and saves that it is done. `wait`: the item stays pending for a person or the next start; it is
   * read again at the next `wake` of the lane.
   */
  readonly perform: (item: Item, signal: AbortSignal) => Promise<'done' | 'wait'>
  /** Called when `perform` throws; the item stays pending. */
  readonly onBroken: (error: unknown, lane: Lane) => void
}

interface Loop {
  abort: AbortController
  running: Promise<void> | null
  again: boolean
}

/** Creates the loop that performs the work that commits have stored. */
export function createOutbox<Lane extends string, Item>({
  next,
  perform,
  onBroken,
}: OutboxDeps<Lane, Item>): Outbox<Lane> {
  const loops = new Map<Lane, Loop>()
  const watchers = new Map<Lane, Set<() => void>>()
  let closed = false

  const notify = (lane: Lane) => {
    for (const watcher of [...(watchers.get(lane) ?? [])]) watcher()
  }
  const drain = async (lane: Lane, loop: Loop): Promise<void> => {
    for (;;) {
      loop.again = false
      const item = closed ? null : next(lane)
      if (item === null) {
        if (!loop.again || closed) return
        continue
      }
      const end = await perform(item, loop.abort.signal)
      notify(lane)
      if (end === 'wait' && !loop.again) return
    }
  }
  const wake = (lane: Lane): void => {
    if (closed) return
    const loop = loops.get(lane) ?? { abort: new AbortController(), running: null, again: false }
    loops.set(lane, loop)
    loop.again = true
    loop.running ??= drain(lane, loop)
      .catch((error: unknown) => {
        onBroken(error, lane)
      })
      .finally(() => {
        loop.running = null
        if (!loop.again || closed) loops.delete(lane)
        else wake(lane)
        notify(lane)
      })
  }
  return {
    wake,
    interrupt: (lane, why) => {
      const loop = loops.get(lane)
      if (!loop?.running) return
      loop.abort.abort(why())
      loop.abort = new AbortController()
      loop.again = true
    },
    isIdle: (lane) => !loops.get(lane)?.running,
    until: (lane, isReached, signal) => {
      let check = () => undefined as void
      const reached = new Promise<void>((resolve) => {
        check = () => {
          if (isReached()) resolve()
        }
        watchers.set(lane, (watchers.get(lane) ?? new Set()).add(check))
        check()
      })
      const settled = signal ? settleOrAbort(reached, signal) : reached
      return settled.finally(() => {
        watchers.get(lane)?.delete(check)
        if (watchers.get(lane)?.size === 0) watchers.delete(lane)
      })
    },
    close: async () => {
      closed = true
      for (const loop of loops.values()) loop.abort.abort()
      await Promise.all([...loops.values()].flatMap((loop) => loop.running ?? []))
    },
  }
}
