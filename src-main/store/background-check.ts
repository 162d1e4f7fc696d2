import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/** A check of the whole file beside the service's own work. */
export interface BackgroundCheck {
  /** Resolves to null for a sound file, to SQLite's words for a damaged one, and to null when it was stopped. */
  readonly found: Promise<string | null>
  stop(): Promise<void>
}

// A thread of its own with a connection of its own: `quick_check` reads every page in one call, which blocks for as long
// as the disk takes. The text is evaluated, so no build has to know of another entry.
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

/** Reads every page of the database once, in a thread of its own. */
export function checkInBackground(file: string): BackgroundCheck {
  const module = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(code, { eval: true, workerData: { file, module } })
  worker.unref()
  const { promise, resolve } = Promise.withResolvers<string | null>()
  worker.on('message', (found: string) => resolve(found === 'ok' ? null : found))
  // A check that can't be made says nothing of the file.
  worker.on('error', () => resolve(null))
  worker.on('exit', () => resolve(null))
  return {
    found: promise,
    stop: async () => {
      await worker.terminate()
    },
  }
}
