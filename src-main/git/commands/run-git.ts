import type { Writable } from 'node:stream'
import {
  listConfig,
  mayRunHooks,
  programOverrides,
  readEntries,
  type ConfigEntry,
  type ConfigPlace,
} from './configured-programs.ts'
import { allowedVariables, gitEnvironment, type Setting } from './git-environment.ts'
import { GitError } from './git-error.ts'
import { later } from '../process/later.ts'
import { NoDirectoryError, startGit } from '../process/start-git.ts'

export interface GitOptions {
  readonly signal: AbortSignal
  /** Exit codes that count as success; by default only 0. */
  readonly accept?: readonly number[]
  readonly env?: Readonly<Record<string, string>>
  /** Override the configuration, also for what git starts. */
  readonly settings?: readonly Setting[]
  readonly input?: string | Uint8Array
  /** `write`: git may take optional locks, to refresh the index. Default `read`. */
  readonly access?: 'read' | 'write'
  /** `run`: the repository's hooks run, if all are as they were when it was trusted. Default `none`. */
  readonly hooks?: 'run' | 'none'
  /** Takes the output in chunks instead of collecting it; returning `enough` ends the command successfully. */
  readonly onOutput?: (chunk: Buffer) => 'more' | 'enough'
  /** Takes stdout as fast as it can, instead of collecting it; is not ended. Needs a cancel once it is destroyed. */
  readonly output?: Writable
  /** Hears stderr too, which is collected only at its beginning. */
  readonly onErrorOutput?: (chunk: Buffer) => void
  /** Maximum bytes of stdout to collect; more is a GitError. Default 64 MiB. */
  readonly maxOutput?: number
}

export interface GitOutput {
  readonly exit_code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** Runs git in one folder with the options that all its commands share. */
export type Git = (args: readonly string[], more?: Partial<GitOptions>) => Promise<GitOutput>

const stderrLimit = 32 * 1024
/** Time for a write to end after a cancel, enough for most; an interrupted git leaves a lock behind. */
const writeGraceMs = 500
/** Settings that disable everything in a repository that changes what git reads from it. */
const deaf: readonly Setting[] = [
  ['core.fsmonitor', 'false'],
  // A commit-graph reports trees and parents of commits without reading the commits.
  ['core.commitGraph', 'false'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
]
/** Messages are read and written as UTF-8 only, whatever encoding the user's configuration names. */
const encodings: readonly Setting[] = [
  ['i18n.commitEncoding', 'UTF-8'],
  ['i18n.logOutputEncoding', 'UTF-8'],
]
const noHooks: Setting = ['core.hooksPath', '/dev/null']

/** Commands that otherwise run git in the repositories inside a worktree, whose settings any run can write. */
const recursive: ReadonlySet<string> = new Set(['status', 'diff', 'diff-files', 'diff-index'])

/** Keeps a command out of inner repositories, also where `.gitmodules` asks for more than the configuration. */
function inThisRepository(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => recursive.has(arg))
  const isFirst =
    at >= 0 && args.slice(0, at).every((arg, index) => arg.startsWith('-') || args[index - 1]?.startsWith('-'))
  if (!isFirst || args.some((arg) => arg.startsWith('--ignore-submodules'))) return args
  return args.toSpliced(at + 1, 0, '--ignore-submodules=dirty')
}

/**
 * The only function that starts git. `args` are fixed by Copse: outside values follow `--`, or are full ref names or
 * object IDs. Throws `GitError`, or the signal's reason after a cancel; settles only when the process has ended.
 * After a cancel, a writing command first gets time to end by itself. Reads nothing that a run could have written to
 * make git run a program (invariant I10).
 */
export async function runGit(cwd: string, args: readonly string[], options: GitOptions): Promise<GitOutput> {
  options.signal.throwIfAborted()
  const stop = new AbortController()
  const release = new AbortController()
  const collected = collect(options, () => stop.abort())
  const wish = options.access === 'write' ? later(options.signal, writeGraceMs, release.signal) : options.signal
  const signal = AbortSignal.any([wish, stop.signal])
  let exitCode: number | null = null

  try {
    const settings = await settingsFor(cwd, args, options)
    const start = {
      cwd,
      args: inThisRepository(args),
      env: gitEnvironment(settings, { access: options.access ?? 'read', given: options.env ?? {} }),
      allowed: allowedVariables(settings),
      input: Buffer.from(options.input ?? ''),
    }
    const sinks = { onStdout: collected.stdout, onStderr: collected.stderr, output: options.output }
    exitCode = await startGit(start, sinks, signal)
  } catch (error) {
    if (error instanceof NoDirectoryError) throw new GitError('no_directory', { args }, { cause: error })
    throw error
  } finally {
    release.abort()
  }

  options.signal.throwIfAborted()
  return judge(args, options, { exit_code: exitCode, ...collected.result() })
}

/** Returns stdout as text, without the line end that git adds. */
export async function readGit(cwd: string, args: readonly string[], options: GitOptions): Promise<string> {
  const { stdout } = await runGit(cwd, args, options)
  return stdout.toString('utf8').replace(/\n$/, '')
}

/** Splits the stdout of a `-z` command into fields. */
export function splitNul(output: Buffer): readonly string[] {
  const fields = output.toString('utf8').split('\0')
  if (fields.at(-1) === '') fields.pop()
  return fields
}

type Judged = GitOutput & { readonly ended: 'normally' | 'enough' | 'too_much' }

function judge(args: readonly string[], options: GitOptions, output: Judged): GitOutput {
  const { ended, ...rest } = output
  if (ended === 'enough') return rest
  if (ended === 'too_much') throw new GitError('too_much_output', { args })
  if (rest.exit_code !== null && rest.exit_code < 0) throw new GitError('not_installed', { args, stderr: rest.stderr })
  if (rest.exit_code === null || !(options.accept ?? [0]).includes(rest.exit_code)) {
    throw new GitError('failed', { args, exit_code: rest.exit_code, stderr: rest.stderr })
  }
  return rest
}

/** Returns the whole configuration of a repository or worktree; asks git only if its files have changed. */
export async function readConfig(
  place: ConfigPlace,
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<readonly ConfigEntry[]> {
  return await readEntries(
    place,
    async ({ git_dir, common }) => (await runGit(common, ['--git-dir', git_dir, ...listConfig], { signal })).stdout,
  )
}

/** Git uses the last of several values, so overrides of the repository's programs come first. */
async function settingsFor(
  cwd: string,
  args: readonly string[],
  { signal, hooks = 'none', settings = [] }: GitOptions,
): Promise<readonly Setting[]> {
  const read = (place: ConfigPlace) => readConfig(place, { signal })
  const overrides = args.includes('--show-scope') ? [] : await programOverrides(cwd, args, read)
  const runsHooks = hooks === 'run' && (await mayRunHooks(cwd, args))
  return [...overrides, ...deaf, ...encodings, ...(runsHooks ? [] : [noHooks]), ...settings]
}

function collect(options: GitOptions, stop: () => void) {
  const pieces: Buffer[] = []
  const errors: Buffer[] = []
  const limit = options.maxOutput ?? 64 * 1024 * 1024
  let size = 0
  let errorSize = 0
  let ended: Judged['ended'] = 'normally'
  const end = (how: Judged['ended']): void => {
    ended = how
    stop()
  }
  return {
    stdout: (chunk: Buffer): void => {
      if (ended !== 'normally') return
      if (options.onOutput) {
        if (options.onOutput(chunk) === 'enough') end('enough')
        return
      }
      size += chunk.length
      if (size > limit) end('too_much')
      else pieces.push(chunk)
    },
    stderr: (chunk: Buffer): void => {
      options.onErrorOutput?.(chunk)
      if (errorSize < stderrLimit) errors.push(chunk)
      errorSize += chunk.length
    },
    result: () => ({ stdout: Buffer.concat(pieces), stderr: Buffer.concat(errors).toString('utf8'), ended }),
  }
}
