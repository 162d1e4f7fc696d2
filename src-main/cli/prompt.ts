import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { CliError, usageError } from './cli-error.ts'

/** Asks on the terminal, through stderr. `hidden` echoes nothing. Throws a usage error without a terminal. */
export async function ask(question: string, { hidden = false, without }: { hidden?: boolean; without: string }) {
  if (!process.stdin.isTTY) throw usageError(without)
  // The line editor echoes the input, so a hidden question gives it an output that drops everything.
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

/** Returns a text argument; `-` reads stdin. */
export async function textOf(argument: string): Promise<string> {
  return argument === '-' ? await readText(process.stdin) : argument
}

/** Returns the lines of stdin, for secrets that another program passes. */
export async function secretsFromStdin(): Promise<string[]> {
  return (await readText(process.stdin)).split(/\r?\n/)
}

export async function secretFromStdin(): Promise<string> {
  return (await secretsFromStdin())[0] ?? ''
}
