import { escapeHidden } from '../../src-shared/lang/hidden-characters.ts'
import { styleText } from 'node:util'
import { stdoutClosed } from '../platform/process/stdout-closed.ts'
import type { Failure } from './cli-error.ts'

type Style = Parameters<typeof styleText>[0]

/** A command's output: its answer on stdout, all else on stderr. */
export interface Output {
  readonly json: boolean
  /** Prints the command's single answer: a JSON value, or text for people. */
  answer(value: unknown, text: () => string): Promise<void>
  /** Prints one item of a stream: a line of JSON, or text for people (null: nothing). */
  writeItem(value: unknown, text: () => string | null): Promise<void>
  /** Prints text as it is, without a line end. */
  raw(text: string | Uint8Array): Promise<void>
  /** Prints a sentence for people; nothing with `--json`. */
  info(text: string): void
  /** Shows on a terminal what the command waits for. */
  withProgress<T>(text: string, work: Promise<T>): Promise<T>
}

export function createOutput(json: boolean): Output {
  const print = (text: string | Uint8Array) => write(process.stdout, text)
  return {
    json,
    answer: (value, text) => print(json ? `${JSON.stringify(value, null, 2)}\n` : withLineEnd(text())),
    writeItem: async (value, text) => {
      const shown = json ? JSON.stringify(value) : text()
      if (shown !== null) await print(`${shown}\n`)
    },
    raw: print,
    info: (text) => {
      if (!json) process.stderr.write(`${text}\n`)
    },
    withProgress: async (text, work) => {
      if (json || !process.stderr.isTTY) return await work
      process.stderr.write(styleText('dim', text, { stream: process.stderr }))
      try {
        return await work
      } finally {
        process.stderr.write('\r\u001b[2K')
      }
    },
  }
}

/** Prints `svc: …` for people, or the API's error body for programs. */
export function printFailure({ code, message, details }: Failure, json: boolean): void {
  const body = { error: { code, message, ...(details && { details }) } }
  const text = json ? JSON.stringify(body) : `${styleText('red', 'svc:', { stream: process.stderr })} ${plain(message)}`
  process.stderr.write(`${text}\n`)
}

/** Colours text if stdout is a terminal and `NO_COLOR` is not set. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Removes characters that could move the cursor, colour or reorder the rest, because others wrote the text. */
export function plain(text: string): string {
  return escapeHidden(text.replace(/(?![\n\t])\p{Cc}/gu, ''))
}

let isWatched = false

/**
 * Exits quietly on EPIPE: the reader of the pipe has closed it. Where the output can't be written, as on a full device,
 * says so in one line. Noticed only at a write.
 */
export function endWithReader(): void {
  if (isWatched) return
  isWatched = true
  process.stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || code === 'ECONNRESET') process.exit(0)
    const reason = code === 'ENOSPC' ? 'no space is left there' : code
    process.stderr.write(`svc: The output could not be written: ${reason}.\n`)
    process.exit(1)
  })
}

/** Notices a closed pipe without a write, because a stream may be idle for hours while its pipeline waits. */
export function endStreamWithReader(): void {
  void stdoutClosed().then(() => process.exit(0))
}

function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    // What can't be written ends the program, see `endWithReader`.
    stream.write(text, (error) => {
      if (!error) resolve()
    })
  })
}

/** Resolves once all output has been written. */
export const outputWritten = (): Promise<void> => write(process.stdout, '')

const withLineEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
