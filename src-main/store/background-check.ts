import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/** A check of the whole file beside the service's work. */
export interface BackgroundCheck {
  /** Resolves with null for a sound file or a stopped check, and with SQLite's message for a damaged one. */
  readonly found: Promise<string | null>
  stop(): Promise<void>
}

// Runs in its own thread with its own connection: `quick_check` reads every page in one call, which blocks for as
// long as the disk takes. Evaluated as text, so that the build needs no further entry.
const code = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.module)
try {
  const client = new Database(workerData.file, { readonly: true })
  parentPort.postMessage(String(client.pragma('quick_check(1)', { simple: true })))
  client.close()
} catch (error) {
  const { code = '' } = error
  parentPort.postMessage(/^SQLITE_(CORRUPT|NOTADB)/.test(code) ? code : 'ok')
}
`

/** Reads every page of the database once, in its own thread. */
export function checkInBackground(file: string): BackgroundCheck {
  const module = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(code, { eval: true, workerData: { file, module } })
  worker.unref()
  const { promise, resolve } = Promise.withResolvers<string | null>()
  worker.on('message', (found: string) => resolve(found === 'ok' ? null : found))
  // A failed check says nothing about the file.
  worker.on('error', () => resolve(null))
  worker.on('exit', () => resolve(null))
  return {
    found: promise,
    stop: async () => {
      await worker.terminate()
    },
  }
}
