import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { isAbsolute } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { guardTree } from './orphan-guard.ts'
import type { Box } from './box.ts'
import { createOutputPipe } from './process-pipes.ts'
import { sweep } from './process-sweep.ts'
import { readProcess } from './process-table.ts'
import { identifyOnWindows, isAliveOnWindows, killTreeOnWindows } from './process-windows.ts'

/** Tells a process from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time as the system counts it; opaque. */
  readonly started: string
}

export interface ProcessExit {
  /** As a shell would say it: the exit code, or 128 + the number of the signal that ended it. */
  readonly exit_code: number
  readonly signal: NodeJS.Signals | null
}

export interface TreeEnd extends ProcessExit {
  /** Pids that withstood even SIGKILL (stuck in the kernel, or another user's); normally none. */
  readonly survivors: readonly number[]
}

export interface SpawnTreeOptions {
  readonly cwd: string
  /** The whole environment; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: 'pipe' | 'ignore'
  /** A UUID that the tree carries, where somebody wants to find it again; else one of its own. */
  readonly processMarker?: string
  /** What it can't get out of. */
  readonly box?: Box | undefined
  /** Windows only: hand the arguments over as they are (for `cmd /c`). */
  readonly verbatimArguments?: boolean
}

/** A process and all that it starts, as one thing. Read `stdout` and `stderr` to their ends, which always come. */
export interface ProcessTree {
  readonly process: ProcessIdentity
  /** null when it was started with `stdin: 'ignore'`. */
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** The process itself has ended; what it left behind may still be ending. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Nothing of the tree is left. What outlives the process itself is ended without being asked for. Never rejects. */
  readonly ended: Promise<TreeEnd>
  /** SIGTERM to the tree, SIGKILL after `graceMs` (10 s) to what is left; settles as `ended` does. Twice is harmless; the shorter grace wins. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** A process could not be started at all. */
export class ProcessStartError extends Error {
  override readonly name = 'ProcessStartError'
  readonly code: 'not_found' | 'not_executable' | 'no_directory' | 'failed'

  constructor(code: ProcessStartError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** How long leftovers of a process that ended by itself may take to follow it. */
const aftermathMs = 1_000
/** In the environment of a tree: by its value those of its processes are found that left the group. */
export const treeVariable = 'SVC_PROCESS_TREE'

/** Starts a process in a group of its own, in its box if it has one. Throws `ProcessStartError`. */
export async function spawnTree(
  command: string,
  args: readonly string[],
  options: SpawnTreeOptions,
): Promise<ProcessTree> {
  const { box, ...free } = options
  if (!box) return await spawnFree(command, args, free)
  const inside = await box.contain({ file: command, args, env: options.env })
  try {
    const tree = await spawnFree(inside.file, inside.args, { ...free, env: inside.env })
    return { ...tree, ended: tree.ended.finally(inside.release) }
  } catch (error) {
    await inside.release()
    throw error
  }
}

async function spawnFree(command: string, args: readonly string[], options: SpawnTreeOptions): Promise<ProcessTree> {
  const processMarker = options.processMarker ?? randomUUID()
  const since = performance.now()
  // Told first: what is started may run before anything more is said.
  const release = guardTree({ pid: 0, processMarker: `${treeVariable}=${processMarker}`, cwd: options.cwd })
  const child = spawnGuarded(() => spawnChild(command, args, options, processMarker), release)
  const { pid, stdout, stderr } = child
  if (pid === undefined || !stdout || !stderr) {
    release()
    throw await startError(child, command, options.cwd)
  }
  // A process that closes its stdin early, or ends, is no failure of ours; its exit tells what happened.
  child.stdin?.on('error', () => undefined)
  const pipes = [createOutputPipe(stdout), createOutputPipe(stderr)] as const
  const tree = await superviseTree({ pid, processMarker, since, cwd: options.cwd, exited: exitOf(child) })
  void tree.ended.then(() => {
    for (const pipe of pipes) pipe.treeIsGone()
  })
  return { ...tree, stdin: child.stdin, stdout: pipes[0].output, stderr: pipes[1].output }
}

/** A process that was just started as the leader of a group of its own. */
export interface TreeRoot {
  readonly pid: number
  /** The value of `treeVariable` in its environment. */
  readonly processMarker: string
  /** Where it was started. */
  readonly cwd: string
  /** `performance.now()` just before it was started. */
  readonly since: number
  /** Never rejects. */
  readonly exited: Promise<ProcessExit>
}

/** Watches over a process and all that it starts, however it was started. */
export async function superviseTree(leader: TreeRoot): Promise<Omit<ProcessTree, 'stdin' | 'stdout' | 'stderr'>> {
  const { pid, processMarker, since, cwd, exited } = leader
  const release = guardTree({ pid, processMarker: `${treeVariable}=${processMarker}`, cwd })
  const identity = await identifyChild(pid)
  let deadline = Infinity
  let ending: Promise<readonly number[]> | undefined
  const end = (graceMs: number): Promise<readonly number[]> => {
    deadline = Math.min(deadline, Date.now() + graceMs)
    ending ??= endTree(identity, since, `${treeVariable}=${processMarker}`, () => deadline, exited)
    return ending
  }
  const ended = exited.then(async (exit): Promise<TreeEnd> => {
    const survivors = await (ending ?? end(aftermathMs))
    release()
    return { ...exit, survivors }
  })
  return {
    process: identity,
    exited,
    ended,
    stop: async ({ graceMs = 10_000 } = {}) => {
      await end(graceMs)
      await ended
    },
  }
}

/** The identity of a running process, null when there is none with this pid. */
export async function identify(pid: number): Promise<ProcessIdentity | null> {
  if (process.platform === 'win32') return await identifyOnWindows(pid)
  const row = await readProcess(pid)
  return row && !row.zombie ? { pid: row.pid, started: row.started } : null
}

/** Whether this very process still runs; a zombie does not. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  if (process.platform === 'win32') return await isAliveOnWindows(identity)
  return (await identify(identity.pid))?.started === identity.started
}

/**
 * Ends what a killed service left of a tree: the process if it is still the same one, its group and
 * descendants, and whatever carries `SVC_EXECUTION_ID`. A pid that is somebody else's by now is not touched. `null`: it
 * is not known which process it was, or whether there was one.
 */
export async function reap(
  identity: ProcessIdentity | null,
  executionId: string,
  options: { readonly graceMs?: number } = {},
): Promise<void> {
  if (process.platform === 'win32') {
    if (identity && (await isAliveOnWindows(identity))) await killTreeOnWindows(identity.pid)
    return
  }
  await sweepLeft(identity ?? anyProcess(), `SVC_EXECUTION_ID=${executionId}`, options.graceMs)
}

/** Ends what a killed service left of a tree that was given this mark; nothing where the system shows no environments. */
export async function killByMarker(processMarker: string, options: { readonly graceMs?: number } = {}): Promise<void> {
  if (process.platform === 'win32') return
  await sweepLeft(anyProcess(), `${treeVariable}=${processMarker}`, options.graceMs)
}

/** A leader that is none, and that everything started after. */
const anyProcess = (): ProcessIdentity => ({
  pid: 0,
  started: process.platform === 'linux' ? '0@' : new Date(0).toISOString(),
})

async function sweepLeft(leader: ProcessIdentity, processMarker: string, graceMs = 10_000): Promise<void> {
  const deadline = Date.now() + graceMs
  await sweep({ leader, processMarker, watchedSince: null }, { deadline: () => deadline })
}

async function endTree(
  leader: ProcessIdentity,
  watchedSince: number,
  processMarker: string,
  deadline: () => number,
  leaderExit: Promise<ProcessExit>,
): Promise<readonly number[]> {
  if (process.platform === 'win32') {
    await killTreeOnWindows(leader.pid)
    return []
  }
  return await sweep({ leader, processMarker, watchedSince }, { deadline, leaderExit })
}

async function identifyChild(pid: number): Promise<ProcessIdentity> {
  if (process.platform === 'win32') return { pid, started: new Date().toISOString() }
  const row = await readProcess(pid)
  // Where the listing takes a turn of the event loop, a short-lived child may be gone by now; its group is still to be swept.
  return { pid, started: row?.started ?? new Date(Date.now() - 1_000).toISOString() }
}

async function exitOf(child: ChildProcess): Promise<ProcessExit> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return { exit_code: code ?? 128 + (signal ? constants.signals[signal] : 0), signal }
}

function spawnChild(
  command: string,
  args: readonly string[],
  options: SpawnTreeOptions,
  processMarker: string,
): ChildProcess {
  try {
    return spawn(command, [...args], {
      cwd: options.cwd,
      env: { ...options.env, [treeVariable]: processMarker },
      stdio: [options.stdin, 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: options.verbatimArguments ?? false,
    })
  } catch (error) {
    // Node throws some of the system's answers at once, and tells of the others by an event.
    if (error instanceof Error && 'code' in error) throw startErrorOf(error, command, options.cwd)
    throw error
  }
}

function spawnGuarded(start: () => ChildProcess, release: () => void): ChildProcess {
  try {
    return start()
  } catch (error) {
    release()
    throw error
  }
}

async function startError(child: ChildProcess, command: string, cwd: string): Promise<ProcessStartError> {
  const [cause] = (await once(child, 'error')) as [NodeJS.ErrnoException]
  return startErrorOf(cause, command, cwd)
}

function startErrorOf(cause: Error & { readonly code?: unknown }, command: string, cwd: string): ProcessStartError {
  const because = (code: ProcessStartError['code'], message: string) => new ProcessStartError(code, message, { cause })
  // The system blames the command for a missing working directory.
  if (!existsSync(cwd)) return because('no_directory', `The directory ${cwd} is not there.`)
  if (cause.code === 'ENOTDIR') return because('no_directory', `${cwd} is not a directory.`)
  // And it blames a script for its missing interpreter.
  if (cause.code === 'ENOENT' && isAbsolute(command) && existsSync(command))
    return because('not_found', `The program that the first line of ${command} names was not found.`)
  if (cause.code === 'ENOENT') return because('not_found', `${command} was not found.`)
  if (cause.code === 'EACCES') return because('not_executable', `${command} isn't executable.`)
  if (cause.code === 'E2BIG') return because('failed', 'The command, or a value in its environment, is too long.')
  if (cause.code === 'ERR_INVALID_ARG_VALUE')
    return because('failed', 'The command, its directory or a value in its environment has a null byte in it.')
  return because('failed', `${command} could not be started.`)
}
