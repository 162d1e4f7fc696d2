import type { Readable } from 'node:stream'
import { createLineHold } from '../base/line-hold.ts'
import { createOutputTail } from '../base/output-tail.ts'
import type { ScriptRun } from '../engine/ports.ts'

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
  const tail = createOutputTail(tailBytes)
  const teller = createTeller(script.onOutput)
  const keep = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    tail.push(bytes)
    await script.log?.write(bytes)
  }
  return {
    async pump(from, output) {
      const lines = createLineHold()
      let failure: Error | undefined
      // With a broken log the output is still read: a full pipe would keep the script from ending.
      const write = async (bytes: Uint8Array): Promise<void> => {
        if (failure === undefined) await keep(bytes).catch((error: Error) => (failure = error))
      }
      // Reads only as fast as the log takes it, so a flood is slowed down at its source.
      for await (const chunk of output as AsyncIterable<Buffer>) {
        script[from]?.push(chunk)
        teller.touch()
        await write(lines.push(chunk))
      }
      await write(lines.flush())
      if (failure !== undefined) throw failure
    },
    async note(text) {
      const bytes = Buffer.from(text)
      script.stderr?.push(bytes)
      teller.touch()
      await keep(bytes)
    },
    tail: () => tail.text(),
    close: () => teller.close(),
  }
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
