import { setTimeout as delay } from 'node:timers/promises'
import { makeSnapshot, type WorktreeSnapshot } from '../git/sending/make-snapshot.ts'
import { pushWork, type PushTarget } from '../git/sending/push-work.ts'
import { taskClone, type TaskClone } from '../git/sending/task-clone.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { notingArrival } from './kept-tasks.ts'
import { filesOfLfs, sendLfs } from './lfs-objects.ts'

/** The work of a run as the service last got it. */
export interface SentWork {
  readonly refs: Readonly<Record<string, string>>
  readonly left_there: readonly string[]
}

export interface WorkSender {
  /** Sends everything, stash and other branches too, and tries until it has arrived or `signal` aborts. */
  sendAll(options: Cancellable): Promise<SentWork>
  /** Sends everything once, apart from the task's work, because it is no longer asked for. */
  sendLate(options: Cancellable): Promise<void>
  /** Stops looking for changes. */
  stop(): Promise<void>
}

export interface WorkSenderParts {
  /** The folder of the task. */
  readonly folder: string
  readonly branch: string
  readonly target: () => PushTarget
  readonly max_file_bytes: number
  /** Takes over what a contained run has committed so far. */
  readonly takeOver?: ((worktree: string) => Promise<void>) | undefined
  readonly log: Logger
}

/** How soon after a change it is sent, in milliseconds. */
const pauseMs = 5_000
/** A snapshot may take this part of the time. */
const share = 10
const retryMs = 2_000

/** Looks for changes of a worktree and sends them while a run works in it. */
export function startWorkSender(parts: WorkSenderParts): WorkSender {
  const { folder, branch, target, max_file_bytes, takeOver, log } = parts
  const clone = taskClone(folder)
  const end = new AbortController()
  let previous: WorktreeSnapshot | null = null
  let sent = ''
  const send = async (everything: boolean, signal: AbortSignal): Promise<SentWork & Sent> => {
    const { worktree, objects } = clone
    await takeOver?.(worktree)
    const snapshot = await makeSnapshot(worktree, { signal, max_file_bytes, objects, previous })
    const key = `${snapshot?.commit ?? ''} ${snapshot?.head ?? ''}`
    const left_out = (snapshot?.left_out ?? []).map(({ path }) => path)
    previous = snapshot
    if (!everything && key === sent) return { refs: {}, left_there: left_out, isWhole: false }
    // Before the commits that name them, so that files have their content where these arrive.
    const refused = await sendLfs(clone, target(), { signal })
    const ofLfs = snapshot === null ? [] : await filesOfLfs(clone, snapshot.commit, refused, { signal })
    const left_there = [...left_out, ...ofLfs]
    const own = snapshot && { commit: snapshot.commit, objects }
    const pushed = await pushWork({ worktree, branch, snapshot: own, everything }, target(), { signal })
    for (const { ref, refusal } of pushed)
      if (refusal !== null) log.warn({ ref, refusal }, 'work was refused by the service')
    sent = key
    const taken = pushed.filter(({ refusal }) => refusal === null)
    const refs = Object.fromEntries(taken.map(({ ref, commit }) => [ref, commit]))
    const isWhole = taken.length === pushed.length && left_there.length + refused.length === 0
    return { refs, left_there, isWhole }
  }
  const watch = async (): Promise<void> => {
    let wait = pauseMs
    while (!end.signal.aborted) {
      await delay(wait, undefined, { signal: end.signal }).catch(() => undefined)
      if (end.signal.aborted) return
      const since = performance.now()
      // The link may be lost: it is sent once it is back.
      await send(false, end.signal).catch((error: unknown) => log.debug({ err: error }, 'work was not sent'))
      wait = Math.max(pauseMs, (performance.now() - since) * share)
    }
  }
  const watching = watch()
  const stop = async (): Promise<void> => {
    end.abort()
    await watching
  }
  return {
    stop,
    sendLate: async ({ signal }) => {
      await stop()
      await takeOver?.(clone.worktree)
      const apart = { target: target(), max_file_bytes, under: 'refs/svc/late/' }
      await notingArrival(folder, () => pushEverything(clone, branch, apart, { signal }), { signal })
    },
    sendAll: async ({ signal }) => {
      await stop()
      for (;;) {
        try {
          return await notingArrival(folder, () => send(true, signal), { signal })
        } catch (error) {
          signal.throwIfAborted()
          log.warn({ err: error }, 'the work of a run could not be sent; it is tried again')
          await delay(retryMs, undefined, { signal })
        }
      }
    },
  }
}

interface Sent {
  /** All of it has arrived: nothing was refused, or too large. */
  readonly isWhole: boolean
}

interface ApartPush {
  readonly target: PushTarget
  readonly max_file_bytes: number
  readonly under: string
}

/** Sends all of a worktree apart from the task's work. */
export async function pushEverything(
  clone: TaskClone,
  branch: string,
  { target, max_file_bytes, under }: ApartPush,
  { signal }: Cancellable,
): Promise<Sent> {
  const { worktree, objects } = clone
  const refused = await sendLfs(clone, target, { signal })
  const snapshot = await makeSnapshot(worktree, { signal, max_file_bytes, objects, previous: null })
  const own = snapshot && { commit: snapshot.commit, objects }
  const pushed = await pushWork({ worktree, branch, snapshot: own, everything: true, under }, target, { signal })
  const left = (snapshot?.left_out.length ?? 0) + refused.length
  return { isWhole: pushed.every(({ refusal }) => refusal === null) && left === 0 }
}
