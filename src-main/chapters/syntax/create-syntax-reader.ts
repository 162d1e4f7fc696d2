import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { SyntaxReader } from '../../ports/syntax-reader.ts'
import type { HunkSyntax, SyntaxRequest } from '../rules/syntax.ts'
import { grammarOf } from './grammar-names.ts'

interface Options {
  /** The worker's file; by default the one of the program. */
  readonly worker?: string
  /** Time for one file, grammar included, after which the worker counts as hung. */
  readonly hungMs?: number
  /** Time without a file after which the worker ends, which frees the memory of the grammars. */
  readonly idleMs?: number
}

/** After so many files that end or hang the worker, the others of a call are left out. */
const maxFailures = 5

/** Implements reading syntax in a thread of its own, which is replaced when it hangs or ends. */
export function createSyntaxReader({ worker: file, hungMs = 5_000, idleMs = 60_000 }: Options = {}): SyntaxReader {
  let worker: Worker | null = null
  let idle: NodeJS.Timeout | null = null
  let turn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  const end = async (): Promise<void> => {
    const ending = worker
    worker = null
    await ending?.terminate()
  }
  /** Returns null if the worker ended or hung. */
  const ask = async (request: SyntaxRequest): Promise<{ hunks: readonly HunkSyntax[] | null } | null> => {
    worker ??= startWorker(file ?? workerFile())
    const asked = worker
    const { promise, resolve } = Promise.withResolvers<{ hunks: readonly HunkSyntax[] | null } | null>()
    const onMessage = (hunks: readonly HunkSyntax[] | null) => resolve({ hunks })
    const onEnd = () => resolve(null)
    const timer = setTimeout(onEnd, hungMs)
    asked.once('message', onMessage).once('exit', onEnd)
    asked.postMessage(request)
    const answer = await promise
    clearTimeout(timer)
    asked.off('message', onMessage).off('exit', onEnd)
    if (answer === null) await end()
    return answer
  }
  const readAll = async (files: readonly SyntaxRequest[], signal: AbortSignal) => {
    const found = new Map<string, readonly HunkSyntax[]>()
    if (idle) clearTimeout(idle)
    let failures = 0
    for (const request of files) {
      if (isClosed || failures >= maxFailures) break
      signal.throwIfAborted()
      if (grammarOf(request.path) === null) continue
      const answer = await ask(request)
      if (answer === null) failures += 1
      else if (answer.hunks) found.set(request.path, answer.hunks)
    }
    idle = setTimeout(() => void end(), idleMs).unref()
    return found
  }
  return {
    hasGrammar: (path) => grammarOf(path) !== null,
    read: (files, { signal }) => {
      const reading = turn.then(() => readAll(files, signal))
      // The next call waits for this one, however it ends.
      turn = reading.catch(() => undefined)
      return reading
    },
    close: async () => {
      isClosed = true
      await end()
      await turn
      if (idle) clearTimeout(idle)
      await end()
    },
  }
}

function startWorker(file: string): Worker {
  const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
  worker.unref()
  // The end that follows tells all; without a listener the error would end the process.
  worker.on('error', () => undefined)
  return worker
}

/** The worker is an entry of its own: beside the other sources, or beside the other built entries. */
function workerFile(): string {
  if (import.meta.filename.endsWith('.ts')) return join(import.meta.dirname, '..', '..', 'syntax-worker.ts')
  const folder = import.meta.dirname
  return join(folder.endsWith('chunks') ? join(folder, '..') : folder, 'syntax-worker.js')
}
