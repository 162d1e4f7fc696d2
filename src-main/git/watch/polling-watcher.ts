import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../platform/logging/log.ts'
import type { WatchEvent } from '../../ports/diff-reader.ts'
import { GitError } from '../commands/git-error.ts'
import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import type { Cancellable } from '../../ports/cancellable.ts'
import { resolveCommit } from '../commands/branch.ts'
import { peekHead } from '../commands/peek.ts'
import { runGit } from '../commands/run-git.ts'
import { excludeLockFile, unmonitored } from '../commands/status.ts'
import { pathBytes } from '../commands/tree-paths.ts'

/** So many changed files are looked at one by one; of those beyond only the names count. */
const maxCheckedFiles = 5_000
const atOnce = 64

/** A word that changes when the differences of a worktree do: from its HEAD, and its changed files' names, sizes and times. */
async function fingerprint(worktree: string, { signal }: Cancellable): Promise<string> {
  const changed = ['--modified', '--deleted', '--others', '--exclude-standard', '--deduplicate']
  const args = [...unmonitored, 'ls-files', '-z', ...changed, '--', ...excludeLockFile]
  const { stdout } = await runGit(worktree, args, { signal })
  const head = (await peekHead(worktree))?.commit ?? (await resolveCommit(worktree, 'HEAD', { signal }))
  const hash = createHash('sha1')
    .update(`${head ?? ''}\0`)
    .update(stdout)
  const keys = stdout.toString('latin1').split('\0').slice(0, maxCheckedFiles)
  for (let at = 0; at < keys.length; at += atOnce) {
    const found = await Promise.all(keys.slice(at, at + atOnce).map((key) => statOf(pathBytes(worktree, key))))
    hash.update(found.join('\n'))
  }
  return hash.digest('hex')
}

async function statOf(path: Buffer): Promise<string> {
  try {
    const { mode, size, mtimeNs, ctimeNs, ino } = await lstat(path, { bigint: true })
    return [mode, size, mtimeNs, ctimeNs, ino].join(' ')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}

/** A look takes at most this part of the time, */
const share = 10
/** and this where nothing has changed for long: twenty worktrees take no more than a hundredth of a core. */
const quietShare = 2_000
/** Between two looks passes so much of the time that nothing has changed in. */
const quietPart = 0.1

/** How long to wait until the next look, in milliseconds; `quiet` is how long nothing has changed. */
export function pauseBeforeLook(every: number, took: number, quiet: number): number {
  return Math.max(every, took * share, Math.min(took * quietShare, quiet * quietPart))
}

export interface Polling {
  readonly ended: Promise<void>
  /** Something may have changed: looks soon, and often again. */
  lookSoon(): void
}

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
export function startPolling(root: string, news: WatchEvent, options: LookOptions): Polling {
  let since = performance.now()
  let rested = new AbortController()
  return {
    ended: poll(root, news, options, {
      pause: async (took) => {
        const ms = pauseBeforeLook(options.every, took, performance.now() - since)
        const least = Math.min(ms, took * share)
        await pause(least, null, { signal: options.signal, ref: false })
        const signal = AbortSignal.any([options.signal, rested.signal])
        await pause(ms - least, null, { signal, ref: false }).catch(() => options.signal.throwIfAborted())
        rested = new AbortController()
      },
      changed: () => (since = performance.now()),
    }),
    lookSoon: () => {
      since = performance.now()
      rested.abort()
    },
  }
}

interface Rhythm {
  pause(took: number): Promise<void>
  changed(): void
}

async function poll(
  root: string,
  news: WatchEvent,
  { signal, inTurn, isStill, log }: LookOptions,
  { pause, changed }: Rhythm,
): Promise<void> {
  let last: string | null = null
  let took = 0
  try {
    for (;;) {
      await pause(took)
      const since = performance.now()
      const seen = await see(root, inTurn, { signal })
      took = performance.now() - since
      if (seen === null && !(await isStill())) {
        news.onEnd()
        return
      }
      if (seen === null || seen === last) continue
      last = seen
      changed()
      news.onChange(null)
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
