import { existsSync } from 'node:fs'
import { createRedactor, redacted } from './redact.ts'

/** Names of environment variables with secret values. */
const secretName =
  /token|secret|passw|credential|authorization|private|(?:^|_)(?:api_?)?keys?$|(?:^|_)(?:pat|pwd|dsn)$/i
/** Shorter values are words that also occur where they are no secret. */
const minLength = 6

/** Returns the values of an environment that are secret by their names. */
function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    // The path of a secret is not secret.
    value !== undefined && value.length >= minLength && secretName.test(name) && !existsSync(value) ? [value] : [],
  )
}

/** Creates `errorText` for a program with this environment. */
export function createErrorText(env: Readonly<Record<string, string | undefined>>): (error: unknown) => string {
  const redact = createRedactor([], secretsIn(env))
  return (error) => redact(textOf(error, new Set()))
}

/**
 * Formats an error and its causes by their stacks only, because other fields may hold anything, such as a statement's
 * values or a command line. For a value that is no error, only its type.
 */
function textOf(error: unknown, seen: Set<unknown>): string {
  if (typeof error === 'string') return error
  if (!(error instanceof Error)) return `a thrown ${typeof error} that isn't an error`
  if (seen.has(error)) return '[circular]'
  seen.add(error)
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  const causes = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause]
  const stacks = causes.filter((cause) => cause !== undefined).map((cause) => `\ncaused by: ${textOf(cause, seen)}`)
  return `${stackOf(error)}${code}${stacks.join('')}`
}

/** Removes the values from the end of a failed statement's message: hashes, environments, prompts. */
function stackOf(error: Error): string {
  const stack = error.stack ?? `${error.name}: ${error.message}`
  const isStatement = 'query' in error && 'params' in error
  return isStatement && error.message !== ''
    ? stack.replace(error.message, () => `a statement failed ${redacted}`)
    : stack
}
