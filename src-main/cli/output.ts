import { escapeHidden } from '../../src-shared/lang/hidden-characters.ts'
import { styleText } from 'node:util'
import { stdoutClosed } from '../platform/process/stdout-closed.ts'
import type { Failure } from './cli-error.ts'

type Style = Parameters<typeof styleText>[0]

/** What a command prints: its answer on stdout, all else on stderr. */
export interface Output {
  readonly json: boolean
  /** The command's one answer: a JSON value, or text for people. */
  answer(value: unknown, text: () => string): Promise<void>
  /** One piece of a stream: a line of JSON, or text for people (null: nothing). */
  writeItem(value: unknown, text: () => string | null): Promise<void>
  /** Text as it is, with no line end of its own. */
  raw(text: string | Uint8Array): Promise<void>
  /** A sentence for people; not with `--json`. */
  info(text: string): void
  /** Says on a terminal what is being waited for, until it is there. */
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

/** `svc: …` for people, the API's own error body for programs. */
export function printFailure({ code, message, details }: Failure, json: boolean): void {
  const body = { error: { code, message, ...(details && { details }) } }
  const text = json ? JSON.stringify(body) : `${styleText('red', 'svc:', { stream: process.stderr })} ${plain(message)}`
  process.stderr.write(`${text}\n`)
}

/** Colour where stdout is a terminal that wants it (`NO_COLOR` does not). */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Without what could move the cursor, colour the rest or reorder it: what others wrote is only text here. */
export function plain(text: string): string {
  return escapeHidden(text.replace(/(?![\n\t])\p{Cc}/gu, ''))
}

/** A command whose reader has gone has nothing left to do and nothing to complain about. A pipe tells when it is written to. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') process.exit(0)
    throw error
  })
}

/** For a stream, which may have nothing to write for hours while the pipeline that it is part of waits for it. */
export function endStreamWithReader(): void {
  void stdoutClosed().then(() => process.exit(0))
}

function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

const withLineEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
