import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { findConfig } from './configured-programs.ts'
import { readConfig, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** The settings for checking out a repository's files. */
export interface CheckoutSettings {
  /** `-c` options for the command that writes the files. */
  readonly options: readonly string[]
  /** Whether a `post-checkout` hook may exist. */
  readonly mayHaveHook: boolean
}

// Two per core were the fastest for 100,000 files, in memory and on a disk, also on a busy machine. More than eight
// slow each other down.
const workers = Math.min(8, 2 * availableParallelism())

/**
 * Reads the user's configuration, which has priority over Copse's defaults. `common` is the folder of the repository
 * that all worktrees share.
 */
export async function readCheckoutSettings(
  repo: string,
  common: string,
  { signal }: Options,
): Promise<CheckoutSettings> {
  const place = (await findConfig(repo, [])) ?? { git_dir: common, common }
  const configured = (await readConfig(place, { signal })).map(({ key }) => key)
  const hasHook = (await orNull(stat(join(common, 'hooks', 'post-checkout')))) !== null
  return {
    // A file system monitor is of no use before the first file exists, and its daemon may be unwanted.
    options: [
      ...['-c', 'core.fsmonitor=false'],
      ...(configured.includes('checkout.workers') ? [] : ['-c', `checkout.workers=${workers}`]),
    ],
    mayHaveHook: hasHook || configured.includes('core.hookspath'),
  }
}

/**
 * Writes the files and the index of a worktree that has none yet, as `git worktree add` does: within the sparse
 * checkout, through configured filters, without submodules. Runs no hook. Fetches only the objects that a partial
 * clone lacks.
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
