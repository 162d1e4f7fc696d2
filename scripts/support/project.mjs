import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's folder, wherever the command was called from. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** What set-up makes for itself: its own Node, locks, notes. Ignored by git. */
export const tools = join(root, '.tools')

/** Set-up speaks on stderr only, so that what a command prints on stdout stays its own. */
export function say(message) {
  process.stderr.write(`copse: ${message}\n`)
}

/** A reason to stop that the person can act on: its message is all they see. */
export class SetupError extends Error {}

/** Ends the process: a `SetupError` as one message, anything else with its stack. */
export function failWith(error) {
  if (error instanceof SetupError) say(error.message)
  else console.error(error)
  process.exit(1)
}

export function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
}
