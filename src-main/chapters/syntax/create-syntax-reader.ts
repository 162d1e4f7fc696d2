import { availableParallelism } from 'node:os'
import type { SyntaxReader } from '../../ports/syntax-reader.ts'
import type { HunkSyntax, SyntaxRequest } from '../rules/syntax.ts'
import { grammarOf } from './grammar-names.ts'
import { createKeptSyntax } from './kept-syntax.ts'
import { createWorkerThread, type WorkerThread } from './worker-thread.ts'

interface Options {
  /** The worker's file; by default the one of the program. */
  readonly worker?: string
  /** Time for one call of the worker, grammars included, after which it counts as hung. */
  readonly hungMs?: number
  /** Time without a file after which the workers end, which frees the memory of the grammars. */
  readonly idleMs?: number
  readonly workers?: number
}

/** After so many files that end or hang a worker, the others of a call are left out. */
const maxFailures = 5
/** Files of one message: each message takes as long as a small file. */
const batch = { files: 16, chars: 256 * 1024 }
/** A second worker loads the grammars once more, which takes as long as so many files. */
const filesOfWorker = 100

/** Implements reading syntax in threads of its own, which are replaced when they hang or end. */
export function createSyntaxReader({
  worker: file,
  hungMs = 5_000,
  idleMs = 60_000,
  // The service itself needs one core, and git another one.
  workers: most = availableParallelism() > 2 ? 2 : 1,
}: Options = {}): SyntaxReader {
  const threads = Array.from({ length: most }, () => createWorkerThread(file, hungMs))
  const kept = createKeptSyntax()
  let idle: NodeJS.Timeout | null = null
  let turn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  const endAll = async (): Promise<void> => {
    await Promise.all(threads.map((thread) => thread.end()))
  }
  const readAll = async (files: readonly SyntaxRequest[], signal: AbortSignal) => {
    const found = new Map<string, readonly HunkSyntax[]>()
    if (idle) clearTimeout(idle)
    const left: SyntaxRequest[] = []
    for (const request of files) {
      if (grammarOf(request.path) === null) continue
      const known = kept.get(request)
      if (known) found.set(request.path, known)
      else left.push(request)
    }
    const queue = batchesOf(left)
    let failures = 0
    const note = (request: SyntaxRequest, hunks: readonly HunkSyntax[] | null): void => {
      if (!hunks) return
      found.set(request.path, hunks)
      kept.put(request, hunks)
    }
    const work = async (thread: WorkerThread): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (isClosed || failures >= maxFailures) return
        signal.throwIfAborted()
        const answers = await thread.ask(next)
        if (answers) for (const [at, request] of next.entries()) note(request, answers[at] ?? null)
        else if (next.length === 1) failures += 1
        // One of them ended the thread: each alone shows which.
        else queue.unshift(...next.map((request) => [request]))
      }
    }
    const needed = Math.max(1, Math.ceil(left.length / filesOfWorker))
    await Promise.all(threads.slice(0, needed).map(work))
    idle = setTimeout(() => void endAll(), idleMs).unref()
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
      await endAll()
      await turn
      if (idle) clearTimeout(idle)
      await endAll()
    },
  }
}

function batchesOf(files: readonly SyntaxRequest[]): SyntaxRequest[][] {
  const batches: SyntaxRequest[][] = []
  let chars = Infinity
  for (const request of files) {
    const size = (request.old_text?.length ?? 0) + (request.new_text?.length ?? 0)
    const last = batches.at(-1)
    if (!last || last.length >= batch.files || chars + size > batch.chars) {
      batches.push([request])
      chars = size
    } else {
      last.push(request)
      chars += size
    }
  }
  return batches
}
