import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** What decides how a repository's files are checked out. */
export interface CheckoutSettings {
  /** `-c` options for the command that writes the files. */
  readonly options: readonly string[]
  /** Whether there may be a `post-checkout` hook. */
  readonly mayHaveHook: boolean
}

// Two for each core were the fastest for 100,000 files, in memory and on a disk, on a machine with other work, too.
// Beyond eight they only get in each other's way.
const workers = Math.min(8, 2 * availableParallelism())

/**
 * Reads the person's configuration, which has priority over Copse's defaults. `common` is the folder of the repository
 * that all worktrees share.
 */
export async function readCheckoutSettings(
  repo: string,
  common: string,
  { signal }: Options,
): Promise<CheckoutSettings> {
  const wanted = ['config', '--name-only', '--get-regexp', '^(checkout\\.workers|core\\.hookspath)$']
  const { stdout } = await runGit(repo, wanted, { signal, accept: [0, 1] })
  const configured = stdout.toString('utf8').split('\n')
  const hasHook = (await orNull(stat(join(common, 'hooks', 'post-checkout')))) !== null
  return {
    // Nothing was asked of a file system monitor before the first file is there, and its daemon may not be wanted.
    options: [
      ...['-c', 'core.fsmonitor=false'],
      ...(configured.includes('checkout.workers') ? [] : ['-c', `checkout.workers=${workers}`]),
    ],
    mayHaveHook: hasHook || configured.includes('core.hookspath'),
  }
}

/**
 * Writes the files of a worktree that has none yet, and its index, as `git worktree add` does it: within the sparse
 * checkout, through the filters that are configured, submodules left alone. Runs no hook. It fetches only what a
 * partial clone has left at its remote.
 */
export async function checkOutFiles(worktree: string, settings: CheckoutSettings, { signal }: Options): Promise<void> {
  const reset = ['reset', '--quiet', '--hard', '--no-recurse-submodules']
  await runGit(worktree, [...settings.options, ...reset], { signal, access: 'write' })
}

/**
 * Runs the `post-checkout` hook, if there is one, with the arguments of `git worktree add`; returns its exit code and
 * output.
 */
export async function runCheckoutHook(
  worktree: string,
  head: string,
  { signal }: Options,
): Promise<{ readonly exit_code: number | null; readonly output: string }> {
  const nothing = '0'.repeat(head.length)
  const args = ['hook', 'run', '--ignore-missing', 'post-checkout', '--', nothing, head, '1']
  const any = Array.from({ length: 256 }, (_, code) => code)
  const { exit_code, stderr } = await runGit(worktree, args, { signal, access: 'write', hooks: 'run', accept: any })
  return { exit_code, output: stderr }
}
