import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'

/** Pending work by lane: within a lane one item after the other, one lane beside the other. */
export interface Outbox<Lane extends string> {
  /** Looks for work in this lane; called after every commit that may have left some. */
  wake(lane: Lane): void
  /** Ends what is under way in a lane, and looks there anew. */
  interrupt(lane: Lane, reason: Error): void
  isIdle(lane: Lane): boolean
  /** Settles once this is so, which is looked at after every item of the lane; or with the signal. */
  until(lane: Lane, isReached: () => boolean, signal?: AbortSignal): Promise<void>
  /** Takes up nothing more, interrupts what is under way, and waits for it to give up. */
  close(): Promise<void>
}

export interface OutboxDeps<Lane extends string, Item> {
  /** What is to be done next in a lane, as it is stored; null for nothing. */
  readonly next: (lane: Lane) => Item | null
  /**
   * Does it and writes down that it is done. `wait`: the item stays, for a person or the next start; it is looked at
   * again when somebody wakes the lane.
   */
  readonly perform: (item: Item, signal: AbortSignal) => Promise<'done' | 'wait'>
  /** `perform` has failed, which leaves the item where it is. */
  readonly onBroken: (error: unknown, lane: Lane) => void
}

interface Loop {
  abort: AbortController
  running: Promise<void> | null
  again: boolean
}

/** Takes up what commits have left to do. */
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
    interrupt: (lane, reason) => {
      const loop = loops.get(lane)
      if (!loop?.running) return
      loop.abort.abort(reason)
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
