import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { HunkSyntax, SyntaxRequest } from '../rules/syntax.ts'

/** What the worker answers for each file; null for a file that could not be read in time. */
export type SyntaxAnswers = readonly (readonly HunkSyntax[] | null)[]

/** A thread that reads syntax, started when it is needed. */
export interface WorkerThread {
  /** Returns null if the thread ended or hung; the next call starts another one. */
  ask(files: readonly SyntaxRequest[]): Promise<SyntaxAnswers | null>
  end(): Promise<void>
}

/** `hungMs` is the time for the files of one call, grammars included, after which the thread counts as hung. */
export function createWorkerThread(file: string | undefined, hungMs: number): WorkerThread {
  let worker: Worker | null = null
  const end = async (): Promise<void> => {
    const ending = worker
    worker = null
    await ending?.terminate()
  }
  return {
    end,
    ask: async (files) => {
      worker ??= startWorker(file ?? workerFile())
      const asked = worker
      const { promise, resolve } = Promise.withResolvers<SyntaxAnswers | null>()
      const onEnd = () => resolve(null)
      const timer = setTimeout(onEnd, hungMs)
      asked.once('message', resolve).once('exit', onEnd)
      asked.postMessage(files)
      const answer = await promise
      clearTimeout(timer)
      asked.off('message', resolve).off('exit', onEnd)
      if (answer === null) await end()
      return answer
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
