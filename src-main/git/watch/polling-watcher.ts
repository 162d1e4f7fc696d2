import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../platform/logging/log.ts'
import type { WatchEvent } from '../../ports/diff-reader.ts'
import { GitError } from '../commands/git-error.ts'
import { fingerprint } from './fingerprint.ts'

/** A look takes at most this part of the time. */
const share = 10

export interface LookOptions {
  readonly signal: AbortSignal
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Whether the worktree is still the one that was there at the start. */
  readonly isStill: () => Promise<boolean>
  /** Milliseconds. */
  readonly every: number
  readonly log: Logger | undefined
}

/**
 * Compares a worktree with what it was at the last look, until the signal ends it: for where the system does not tell
 * of changes. The first look may tell of what was there before.
 */
export async function startPolling(
  root: string,
  news: WatchEvent,
  { signal, inTurn, isStill, every, log }: LookOptions,
): Promise<void> {
  let last: string | null = null
  let took = 0
  try {
    for (;;) {
      await pause(Math.max(every, took * share), null, { signal, ref: false })
      const since = performance.now()
      const seen = await see(root, inTurn, { signal })
      took = performance.now() - since
      if (seen === null && !(await isStill())) {
        news.onEnd()
        return
      }
      if (seen === null || seen === last) continue
      last = seen
      news.onChange()
    }
  } catch (error) {
    if (!signal.aborted) log?.error({ err: error, root }, 'a worktree is no longer looked at')
  }
}

/** null when git could not tell just now. */
async function see(
  root: string,
  inTurn: <T>(work: () => Promise<T>) => Promise<T>,
  { signal }: { readonly signal: AbortSignal },
): Promise<string | null> {
  try {
    return await inTurn(() => fingerprint(root, { signal }))
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}
