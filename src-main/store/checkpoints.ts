import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type SqliteDatabase from 'better-sqlite3'

/**
 * Checkpoints of the journal in a thread of their own: most of their time is waiting for the disk, up to a fifth of a
 * second at once. The thread lives only while much is written.
 */
export interface Checkpoints {
  /** Called after every commit; begins a checkpoint once enough was written. */
  committed(): void
  /** Writes the journal into the file, so that the next write starts the journal from its beginning. */
  run(): Promise<void>
  /** Waits for the running checkpoint, because the connection that closes last removes the journal. */
  close(): void
}

/** Rows after which a checkpoint begins: about as many pages as SQLite itself lets pass. */
const rowsPerCheckpoint = 400
/** Pages at which the connection makes a checkpoint itself, if the thread could not keep up. */
const maxPages = 16_000
/** How long the thread waits for more. */
const restMs = 5_000
const closeMs = 2_000

// Opens the file for each checkpoint, so that in between the service's connection is the only one.
const code = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.module)
parentPort.on('message', () => {
  try {
    const client = new Database(workerData.file, { timeout: 1000 })
    try {
      client.pragma('wal_checkpoint(PASSIVE)')
    } finally {
      client.close()
    }
  } catch {
    // The next one, or the connection itself, brings along what this one could not.
  }
  Atomics.store(workerData.open, 0, 0)
  Atomics.notify(workerData.open, 0)
  parentPort.postMessage('done')
})
`

interface Thread {
  readonly worker: Worker
  /** 1 while the file is open in the thread. */
  readonly open: Int32Array<SharedArrayBuffer>
  /** Resolves when the running checkpoint has ended. */
  running: Promise<void> | null
  rest: NodeJS.Timeout | undefined
}

/** Takes over a connection's checkpoints until `close`. */
export function createCheckpoints(client: SqliteDatabase.Database): Checkpoints {
  if (client.memory) return { committed: () => undefined, run: () => Promise.resolve(), close: () => undefined }
  client.pragma(`wal_autocheckpoint = ${maxPages}`)
  const countRows = client.prepare<[], number>('SELECT total_changes()').pluck()
  let thread: Thread | null = null
  let rowsBefore = 0
  const start = (): Thread => {
    const started = startThread(client.name)
    // Without a checkpoint nothing is lost; the next one starts another thread.
    started.worker.on('error', () => undefined)
    started.worker.once('exit', () => {
      if (thread === started) thread = null
    })
    return started
  }
  const end = (ended: Thread) => {
    thread = null
    void ended.worker.terminate()
  }
  const begin = (): Promise<void> => {
    const here = (thread ??= start())
    here.running ??= runOnce(here).then(() => {
      here.running = null
      if (thread === here) here.rest = setTimeout(() => end(here), restMs).unref()
    })
    return here.running
  }
  return {
    committed: () => {
      const rows = countRows.get() ?? 0
      if (rows - rowsBefore < rowsPerCheckpoint) return
      rowsBefore = rows
      void begin()
    },
    run: async () => {
      // The running one may have begun before the last writes.
      await thread?.running
      await begin()
    },
    close: () => {
      if (!thread) return
      Atomics.wait(thread.open, 0, 1, closeMs)
      clearTimeout(thread.rest)
      end(thread)
    },
  }
}

function startThread(file: string): Thread {
  const module = createRequire(import.meta.url).resolve('better-sqlite3')
  const open = new Int32Array(new SharedArrayBuffer(4))
  return {
    worker: new Worker(code, { eval: true, workerData: { file, module, open } }),
    open,
    running: null,
    rest: undefined,
  }
}

/** Makes one checkpoint. Resolves, too, when the thread ends. */
function runOnce({ worker, open, rest }: Thread): Promise<void> {
  clearTimeout(rest)
  Atomics.store(open, 0, 1)
  worker.ref()
  worker.postMessage('run')
  return new Promise((resolve) => {
    const settle = () => {
      worker.off('message', settle).off('exit', settle).unref()
      resolve()
    }
    worker.once('message', settle).once('exit', settle)
  })
}
