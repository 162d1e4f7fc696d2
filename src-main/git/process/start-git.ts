import type { Writable } from 'node:stream'
import { simpleGit } from 'simple-git'
import { later } from './later.ts'

/** One git command, ready to be started; plain data, so that another process can start it. */
export interface GitStart {
  readonly cwd: string
  readonly args: readonly string[]
  /** All of git's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Names of variables that simple-git would refuse. */
  readonly allowed: readonly string[]
  readonly input: Uint8Array
}

/** Where the output goes. */
export interface GitSinks {
  readonly onStdout: (chunk: Buffer) => void
  readonly onStderr: (chunk: Buffer) => void
  /** Takes stdout in place of `onStdout`, as fast as it can. */
  readonly output?: Writable | undefined
}

/** Starts git in a folder; resolves with its exit code when it and its output have ended. */
export type GitStarter = (start: GitStart, sinks: GitSinks, signal: AbortSignal) => Promise<number | null>

/** The folder in which git was to start is none. */
export class NoDirectoryError extends Error {
  override readonly name = 'NoDirectoryError'
}

const abortGraceMs = 2_000
/**
 * Time for the output of a git that has exited, which a program that it left running may hold open. Never `false`:
 * simple-git would then wait for one endless promise too, which keeps what each command was started with for ever.
 */
const outputGraceMs = 10_000

/** Starts git from this process. A signal ends it; throws `NoDirectoryError` where the folder is gone. */
export const startGitHere: GitStarter = async (start, { onStdout, onStderr, output }, signal) => {
  const release = new AbortController()
  let exitCode: number | null = null
  let passedOn = Promise.resolve()
  try {
    const git = openGit(start, signal, (code) => {
      exitCode = code
    })
    git.env({ ...start.env })
    git.outputHandler((_command, stdout, stderr) => {
      // simple-git would keep all output in memory; the sinks keep only what the caller needs.
      stdout.removeAllListeners('data')
      if (output) passedOn = passOn(stdout, output)
      else stdout.on('data', onStdout)
      stderr.on('data', onStderr)
      // simple-git waits 50 ms longer for a command without output; an empty chunk signals the end.
      stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)))
      // A hook that outlives an interrupted git holds its pipes open, so they are released after the grace.
      later(signal, abortGraceMs, release.signal).addEventListener('abort', () => {
        for (const stream of [stdout, stderr])
          if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
      })
    })
    await git.raw([...start.args])
    // A slow reader may have most of the output still before it when git has ended.
    await passedOn
  } finally {
    release.abort()
  }
  return exitCode
}

let starter: GitStarter = startGitHere

/** Starts git from this process, or as `startGitBy` has it. */
export const startGit: GitStarter = (...command) => starter(...command)

/** Has all commands started by `other` from now on; without it, from this process. */
export function startGitBy(other: GitStarter = startGitHere): void {
  starter = other
}

/** Passes output on, and waits where the reader is slower than git. Resolves at its end. */
async function passOn(stdout: NodeJS.ReadableStream, output: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    stdout.on('data', (chunk: Buffer) => {
      if (output.destroyed || output.write(chunk)) return
      stdout.pause()
      const resume = (): void => {
        output.off('drain', resume).off('close', resume)
        stdout.resume()
      }
      output.once('drain', resume).once('close', resume)
    })
    stdout.once('close', resolve)
  })
}

function openGit({ cwd, allowed, input }: GitStart, signal: AbortSignal, onExit: (code: number | null) => void) {
  // An empty Buffer closes stdin; an empty string or nothing would leave it open and hang a hook that reads it.
  const bytes = Buffer.from(input)
  try {
    return simpleGit({
      baseDir: cwd,
      abort: signal,
      completion: { onClose: true, onExit: outputGraceMs },
      input: () => bytes,
      errors: (_error, result) => {
        onExit(result.exitCode)
        return undefined
      },
      allowEnvironment: [...allowed],
      // Abbreviated options stay allowed because simple-git's ban would reach the repository's own hooks.
      unsafe: {
        allowUnsafeEditor: true,
        allowUnsafeFsMonitor: true,
        allowUnsafeConfigPaths: true,
        allowUnsafeHooksPath: true,
        allowUnsafeConfigEnvCount: true,
        allowUnsafeFilter: true,
        allowUnsafeMergeDriver: true,
        allowUnsafeAskPass: true,
        allowUnsafeSshCommand: true,
        allowUnsafeCredentialHelper: true,
        allowAbbreviatedOptions: true,
      },
    })
  } catch (cause) {
    throw new NoDirectoryError(cwd, { cause })
  }
}
