import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type SqliteDatabase from 'better-sqlite3'

/** Checkpoints of the journal in its own thread, because most of their time is waiting for the disk. */
export interface Checkpoints {
  /** Writes the journal into the file, so that the next write starts the journal from its beginning. */
  run(): Promise<void>
  close(): Promise<void>
}

/** Pages at which the connection makes a checkpoint itself: with the thread, and without it. */
const pagesMeanwhile = 16_000
const usualPages = 1_000

const code = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.module)
const client = new Database(workerData.file, { timeout: 1000 })
parentPort.on('message', (message) => {
  if (message === 'close') {
    client.close()
    parentPort.close()
    return
  }
  try {
    client.pragma('wal_checkpoint(PASSIVE)')
  } catch (error) {
    // The next one, or the connection itself, brings along what this one could not.
    parentPort.postMessage(error.code)
    return
  }
  parentPort.postMessage('done')
})
`

/** Takes over a connection's checkpoints until it is closed. */
export function openCheckpoints(client: SqliteDatabase.Database): Checkpoints {
  const module = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(code, { eval: true, workerData: { file: client.name, module } })
  worker.unref()
  client.pragma(`wal_autocheckpoint = ${pagesMeanwhile}`)
  let waiting: (() => void)[] = []
  let isGone = false
  const settle = () => {
    for (const resolve of waiting) resolve()
    waiting = []
    worker.unref()
  }
  const ask = async (message: 'run' | 'close') => {
    if (isGone) return
    worker.ref()
    worker.postMessage(message)
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  worker.on('message', settle)
  for (const event of ['error', 'exit'] as const) {
    worker.on(event, () => {
      isGone = true
      settle()
    })
  }
  return {
    run: () => ask('run'),
    close: async () => {
      if (client.open) client.pragma(`wal_autocheckpoint = ${usualPages}`)
      await ask('close')
    },
  }
}
