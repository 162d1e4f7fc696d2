import { Writable } from 'node:stream'
import { createLogger, type Logger } from '../../src-main/platform/logging/log.ts'

/** A log that a test reads line by line. */
export interface LogLines {
  readonly log: Logger
  readonly lines: readonly LogLine[]
  /** Resolves with the first matching line of this message, past or future. */
  line(msg: string, fits?: (line: LogLine) => boolean): Promise<LogLine>
  /** The same for the first message that contains this text. */
  lineWith(words: string): Promise<LogLine>
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string }

export function createLogLines(): LogLines {
  const lines: LogLine[] = []
  let waiting: (() => void)[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString('utf8')) as LogLine)
      const wake = waiting
      waiting = []
      for (const go of wake) go()
      done()
    },
  })
  const first = async (fits: (line: LogLine) => boolean) => {
    for (;;) {
      const found = lines.find(fits)
      if (found) return found
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return {
    log: createLogger({ level: 'info', stream }),
    lines,
    line: (msg, fits = () => true) => first((line) => line.msg === msg && fits(line)),
    lineWith: (words) => first(({ msg }) => msg.includes(words)),
  }
}
