import { join } from 'node:path'
import type { Logger } from '../../platform/logging/log.ts'
import type { HelperProcess, HelperStarter } from '../../platform/process/helper-process.ts'
import type { FromGitHelper, ToGitHelper } from './helper-messages.ts'
import { NoDirectoryError, startGitBy, startGitHere, type GitSinks, type GitStarter } from './start-git.ts'

/**
 * Starts git in a small process of its own while many commands come. To start a program copies the page tables of the
 * process that starts it, which holds up a service of some hundred megabytes for as long as git then takes.
 */
export interface GitHelper {
  readonly start: GitStarter
  /** Ends the process; the service starts git itself again. */
  close(): Promise<void>
}

interface Options {
  /** Starts the process. */
  readonly begin: HelperStarter
  /** The process's program; by default the one of this program. */
  readonly file?: string
  /** So many commands within two seconds begin the process. */
  readonly many?: number
  /** Time without a command after which it ends, which frees its memory. */
  readonly idleMs?: number
  /** Told of a process that ended by itself or could not be started. */
  readonly log?: Pick<Logger, 'warn'> | undefined
}

interface Running {
  readonly sinks: GitSinks
  readonly end: PromiseWithResolvers<number | null>
  /** Bytes of stdout that were read and not told. */
  untold: number
}

const windowMs = 2_000
/** Each message about what was read costs as much as one with output. */
const toldBytes = 256 * 1024

/** A process, and the commands that it runs. */
interface Begun {
  readonly process: HelperProcess
  readonly running: Map<number, Running>
  isReady: boolean
}

export function createGitHelper(options: Options): GitHelper {
  const { begin, file = helperFile(), many = 16, idleMs = 60_000, log } = options
  /** When the last commands came. */
  const recent: number[] = []
  let current: Begun | null = null
  /** A process that ended by itself is not begun again at once. */
  let notBefore = 0
  let isClosed = false
  let next = 0
  let idle: NodeJS.Timeout | undefined
  let ending = Promise.resolve()

  const isBusy = (): boolean => {
    const now = performance.now()
    recent.push(now)
    const oldest = recent.length > many ? recent.shift() : undefined
    return oldest !== undefined && now - oldest < windowMs && now > notBefore
  }
  const beginOne = (): Begun | null => {
    const running = new Map<number, Running>()
    const onEnd = (): void => {
      if (current === begun) {
        current = null
        notBefore = performance.now() + idleMs
        log?.warn({ commands: running.size }, 'the helper that starts git ended; the service starts git itself now')
      }
      // How they ended is unknown.
      for (const { end } of running.values()) end.resolve(null)
    }
    const onMessage = (told: unknown): void => {
      const message = told as FromGitHelper
      if (message.kind === 'ready') begun.isReady = true
      else hear(begun, message)
    }
    let begun: Begun
    try {
      begun = { process: begin(file, { onMessage, onEnd }), running, isReady: false }
    } catch (err) {
      // A system without room for one more process: the service starts git itself, as before.
      notBefore = performance.now() + idleMs
      log?.warn({ err }, 'the helper that starts git could not be started; the service starts git itself')
      return null
    }
    endLater()
    return begun
  }
  const end = (): void => {
    clearTimeout(idle)
    const last = current
    current = null
    if (last) ending = ending.then(() => last.process.end())
  }
  const endLater = (): void => {
    clearTimeout(idle)
    idle = setTimeout(end, idleMs).unref()
  }
  const runIn = async ({ process, running }: Begun, ...[start, sinks, signal]: Parameters<GitStarter>) => {
    signal.throwIfAborted()
    clearTimeout(idle)
    const id = (next += 1)
    const one: Running = { sinks, end: Promise.withResolvers(), untold: 0 }
    const tell = (message: ToGitHelper): void => process.send(message)
    const stop = (): void => tell({ kind: 'stop', id })
    if (running.size === 0) process.hold(true)
    running.set(id, one)
    signal.addEventListener('abort', stop, { once: true })
    tell({ kind: 'start', id, start })
    try {
      return await one.end.promise
    } finally {
      signal.removeEventListener('abort', stop)
      running.delete(id)
      if (running.size === 0) {
        process.hold(false)
        endLater()
      }
    }
  }
  return {
    start: async (start, sinks, signal) => {
      if (isBusy() && !isClosed) current ??= beginOne()
      // What gives way to a slow reader must see it.
      if (current?.isReady !== true || sinks.output) return await startGitHere(start, sinks, signal)
      return await runIn(current, start, sinks, signal)
    },
    close: async () => {
      isClosed = true
      end()
      await ending
    },
  }
}

function hear({ process, running }: Begun, message: Exclude<FromGitHelper, { readonly kind: 'ready' }>): void {
  const { id } = message
  const one = running.get(id)
  if (!one) return
  if (message.kind === 'ended') one.end.resolve(message.exit_code)
  else if (message.kind === 'refused') one.end.reject(asError(message))
  else if (message.kind === 'stderr') one.sinks.onStderr(asBuffer(message.chunk))
  else {
    one.sinks.onStdout(asBuffer(message.chunk))
    one.untold += message.chunk.byteLength
    if (one.untold < toldBytes) return
    const read: ToGitHelper = { kind: 'read', id, bytes: one.untold }
    process.send(read)
    one.untold = 0
  }
}

/** Has a helper start git from now on; without a way to start it, this process always does. */
export function helpGit(begin: HelperStarter | undefined, log: Pick<Logger, 'warn'>): { close(): Promise<void> } {
  if (begin === undefined) return { close: () => Promise.resolve() }
  const helper = createGitHelper({ begin, log })
  startGitBy(helper.start)
  return {
    close: async () => {
      startGitBy()
      await helper.close()
    },
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

const asError = ({ why, message }: Extract<FromGitHelper, { readonly kind: 'refused' }>): Error =>
  why === 'no_directory' ? new NoDirectoryError(message) : new Error(message)

/** The process's program is an entry of its own: beside the other sources, or beside the other built entries. */
function helperFile(): string {
  if (import.meta.filename.endsWith('.ts')) return join(import.meta.dirname, '..', '..', 'git-helper.ts')
  const folder = import.meta.dirname
  return join(folder.endsWith('chunks') ? join(folder, '..') : folder, 'git-helper.js')
}
