import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { CliError, usageError } from './cli-error.ts'

/** Asks on the terminal, on stderr. `hidden` shows nothing of what is typed. Throws a usage error without a terminal. */
export async function ask(question: string, { hidden = false, without }: { hidden?: boolean; without: string }) {
  if (!process.stdin.isTTY) throw usageError(without)
  // The line editor writes what is typed; nothing of that reaches the terminal where it is hidden.
  const output = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  if (hidden) process.stderr.write(question)
  try {
    return await new Promise<string>((resolve, reject) => {
      const leave = () => reject(new CliError('interrupted', 'Nothing was changed.'))
      lines.once('SIGINT', leave)
      lines.once('close', leave)
      lines.question(hidden ? '' : question, resolve)
    })
  } finally {
    lines.close()
    if (hidden) process.stderr.write('\n')
  }
}

/** A text argument: `-` stands for what comes on stdin. */
export async function textOf(argument: string): Promise<string> {
  return argument === '-' ? await readText(process.stdin) : argument
}

/** The lines of stdin, for secrets that another program hands over. */
export async function secretsFromStdin(): Promise<string[]> {
  return (await readText(process.stdin)).split(/\r?\n/)
}

/** The first line of stdin. */
export async function secretFromStdin(): Promise<string> {
  return (await secretsFromStdin())[0] ?? ''
}
