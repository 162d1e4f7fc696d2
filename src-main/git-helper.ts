import { Writable } from 'node:stream'
import type { FromGitHelper, ToGitHelper } from './git/process/helper-messages.ts'
import { NoDirectoryError, startGitHere, type GitStart } from './git/process/start-git.ts'

/** The parent's end, where Electron has started this process; else it is Node's own channel. */
interface ElectronPort {
  postMessage(message: FromGitHelper): void
  on(event: 'message', listener: (event: { readonly data: ToGitHelper }) => void): void
}

/** Bytes of output that the service has not read yet; with more, git waits. */
const maxUnread = 1024 * 1024

interface Running {
  readonly stop: AbortController
  read(bytes: number): void
}

const running = new Map<number, Running>()
const port = (process as { readonly parentPort?: ElectronPort }).parentPort

// The service decides when it ends. A terminal's Ctrl-C reaches all of its processes, and the service may still need git.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit())
if (port) port.on('message', ({ data }) => take(data))
else process.on('message', take)
tell({ kind: 'ready' })

function tell(message: FromGitHelper): void {
  if (port) port.postMessage(message)
  // A service that is gone reads nothing; `disconnect` ends this process.
  else if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

function take(message: ToGitHelper): void {
  if (message.kind === 'start') void run(message.id, message.start)
  else if (message.kind === 'stop') running.get(message.id)?.stop.abort()
  else running.get(message.id)?.read(message.bytes)
}

async function run(id: number, start: GitStart): Promise<void> {
  const stop = new AbortController()
  let unread = 0
  let resume: (() => void) | null = null
  const read = (bytes: number): void => {
    unread -= bytes
    if (unread >= maxUnread) return
    const go = resume
    // It may write more at once, and so be kept again.
    resume = null
    go?.()
  }
  running.set(id, { stop, read })
  const output = new Writable({
    highWaterMark: maxUnread,
    write: (chunk: Buffer, _encoding, done) => {
      unread += chunk.length
      tell({ kind: 'stdout', id, chunk })
      if (unread < maxUnread) done()
      else resume = done
    },
  })
  const sinks = { output, onStdout: () => undefined, onStderr: (chunk: Buffer) => tell({ kind: 'stderr', id, chunk }) }
  try {
    const exit_code = await startGitHere(start, sinks, stop.signal)
    // No one reads the rest of what was stopped.
    if (!stop.signal.aborted) await new Promise<void>((resolve) => output.end(resolve))
    tell({ kind: 'ended', id, exit_code })
  } catch (error) {
    const why = error instanceof NoDirectoryError ? 'no_directory' : 'failed'
    tell({ kind: 'refused', id, why, message: error instanceof Error ? error.message : String(error) })
  } finally {
    running.delete(id)
  }
}
