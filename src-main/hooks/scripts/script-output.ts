import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createLineBuffer } from '../../platform/text/line-buffer.ts'
import { createTextTail } from '../../platform/text/text-tail.ts'
import type { TextTail } from '../../platform/text/text-tail.ts'
import type { LogWriter } from '../../ports/logs.ts'
import type { ScriptRun } from '../../ports/scripts.ts'

/** Passes a script's output to its log and captures. */
export interface ScriptOutput {
  /** Reads an output to its end, then rejects if the log failed. */
  collect(from: 'stdout' | 'stderr', output: Readable): Promise<void>
  /** Adds a sentence of Copse itself to the output. */
  note(text: string): Promise<void>
  /** Returns the end of both outputs combined. */
  tail(): string
  /** Called when no more output comes. */
  close(): void
}

const tailBytes = 10 * 1024
const reportMs = 250

/** Creates the output of a script: it feeds the log, the captures and `onOutput`. */
export function createScriptOutput(script: ScriptRun): ScriptOutput {
  const tail = createTextTail(tailBytes)
  const teller = createTeller(script.onOutput)
  return {
    async collect(from, output) {
      const log = script.log ? createLogging(script.log, tail) : null
      await drain(output, (chunk) => {
        script[from]?.push(chunk)
        teller.touch()
        if (log) return log.push(chunk)
        tail.push(chunk)
        return free(chunk)
      })
      await log?.end()
    },
    async note(text) {
      const bytes = Buffer.from(text)
      script.stderr?.push(bytes)
      tail.push(bytes)
      teller.touch()
      await script.log?.write(bytes)
    },
    tail: () => tail.text(),
    close: () => teller.close(),
  }
}

/** Passes complete lines to the log, so that two outputs do not split each other's lines. */
function createLogging(log: LogWriter, tail: TextTail) {
  const lines = createLineBuffer()
  let failure: Error | undefined
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    tail.push(bytes)
    // Read on even if the log is broken: a full pipe would keep the script from ending.
    if (failure === undefined) await log.write(bytes).catch((error: Error) => (failure = error))
  }
  return {
    /** Never rejects. Resolves when the log takes more, so that a flood is slowed down at its source. */
    push: (chunk: Uint8Array) => write(lines.push(chunk)),
    end: async () => {
      await write(lines.flush())
      if (failure !== undefined) throw failure
    },
  }
}

/** Passes chunks to `take` one at a time, waiting for each, until the output has ended. */
async function drain(output: Readable, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  let taken: Promise<void> | undefined
  output.on('data', (chunk: Buffer) => {
    taken = take(chunk)
    if (!taken) return
    output.pause()
    void taken.then(() => output.resume())
  })
  await finished(output, { writable: false })
  // Wait for the last chunk: a paused stream emits `end` without waiting for `take`.
  await taken
}

/**
 * Frees the memory of a chunk at once if no other chunk shares it. The garbage collector would do so only after some
 * 70 MB of such memory.
 */
function free({ buffer, byteLength }: Buffer): undefined {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Calls `tell` with a delay after `touch`, and at `close` if a call is still due. */
function createTeller(tell: (() => void) | undefined): { touch(): void; close(): void } {
  let timer: NodeJS.Timeout | undefined
  const fire = (): void => {
    timer = undefined
    tell?.()
  }
  return {
    touch() {
      if (tell) timer ??= setTimeout(fire, reportMs)
    },
    close() {
      if (timer === undefined) return
      clearTimeout(timer)
      fire()
    },
  }
}
