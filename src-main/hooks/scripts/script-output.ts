import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createLineBuffer } from '../../platform/text/line-buffer.ts'
import { createTextTail } from '../../platform/text/text-tail.ts'
import type { TextTail } from '../../platform/text/text-tail.ts'
import type { LogWriter } from '../../ports/logs.ts'
import type { ScriptRun } from '../../ports/scripts.ts'

/** What a script says, on its way to whoever keeps it. */
export interface ScriptOutput {
  /** Takes an output to its end. Rejects, then, when the log did. */
  pump(from: 'stdout' | 'stderr', output: Readable): Promise<void>
  /** Adds a sentence of ours. */
  note(text: string): Promise<void>
  /** The end of both outputs together. */
  tail(): string
  /** No more comes. */
  close(): void
}

const tailBytes = 10 * 1024
const tellMs = 250

/** Gives a script's output to its log, its captures and whoever wants to hear of it. */
export function createScriptOutput(script: ScriptRun): ScriptOutput {
  const tail = createTextTail(tailBytes)
  const teller = createTeller(script.onOutput)
  return {
    async pump(from, output) {
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

/** Whole lines for the log, so that two outputs do not cut into each other's. */
function createLogging(log: LogWriter, tail: TextTail) {
  const lines = createLineBuffer()
  let failure: Error | undefined
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    tail.push(bytes)
    // With a broken log the output is still read: a full pipe would keep the script from ending.
    if (failure === undefined) await log.write(bytes).catch((error: Error) => (failure = error))
  }
  return {
    /** Never rejects. Settles when the log takes more, so that a flood is slowed down at its source. */
    push: (chunk: Uint8Array) => write(lines.push(chunk)),
    end: async () => {
      await write(lines.flush())
      if (failure !== undefined) throw failure
    },
  }
}

/** Gives each chunk to `take` until the output ends and the last is taken, and none while `take` still has to settle. */
async function drain(output: Readable, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  let taken: Promise<void> | undefined
  output.on('data', (chunk: Buffer) => {
    taken = take(chunk)
    if (!taken) return
    output.pause()
    void taken.then(() => output.resume())
  })
  await finished(output, { writable: false })
  // A chunk that came with the end is the last before it: a stream that is paused says that it has ended all the same.
  await taken
}

/**
 * Gives the memory of a chunk back at once, if it has it alone. The collector does so only when some 70 MB of
 * such memory have come together.
 */
function free({ buffer, byteLength }: Buffer): undefined {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Calls `tell` a moment after it was touched, and in the end for what it has not told yet. */
function createTeller(tell: (() => void) | undefined): { touch(): void; close(): void } {
  let timer: NodeJS.Timeout | undefined
  const fire = (): void => {
    timer = undefined
    tell?.()
  }
  return {
    touch() {
      if (tell) timer ??= setTimeout(fire, tellMs)
    },
    close() {
      if (timer === undefined) return
      clearTimeout(timer)
      fire()
    },
  }
}
