import { pino } from 'pino'
import type { DestinationStream, LevelWithSilent, Logger } from 'pino'
import { createErrorText } from '../text/error-text.ts'
import { formatLogLine } from './log-for-people.ts'

export type { Logger } from 'pino'

const secretFields = [
  'token',
  'access_token',
  'refresh_token',
  'password',
  'authorization',
  'cookie',
  'secret',
  'env',
  'prompt',
]

const secretNames = new Set(secretFields)
const censor = '[redacted]'
/** Levels below a field in which secrets are looked for. */
const maxDepth = 3

/**
 * Creates the service's log: JSON lines on `stream`; by default stderr, where a terminal gets readable lines. Modules
 * use a `child` of it.
 */
export function createLogger(options: {
  readonly level: LevelWithSilent
  readonly stream?: DestinationStream
}): Logger {
  const err = createErrorText(process.env)
  const log = pino(
    {
      level: options.level,
      redact: { paths: secretFields, censor },
      formatters: { log: hideNested },
      base: null,
      serializers: { err },
    },
    options.stream ?? stderrStream(),
  )
  // pino gives a child's bindings to no formatter. Children inherit this.
  const { child } = log
  log.child = function (this: Logger, bindings, options) {
    return child.call(this, hideNested(bindings), options)
  } as Logger['child']
  return log
}

/**
 * Hides secrets in the values of fields. pino would look for them with a wildcard per name and level, which takes four
 * times as long as the rest of a line. What it gets is not changed, only copied where it has a secret.
 */
function hideNested(fields: Record<string, unknown>): Record<string, unknown> {
  // What `err` names becomes text of its own.
  return mapValues(fields, (value, name) => (name === 'err' ? value : withoutSecrets(value, maxDepth)))
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withoutSecrets(item, depth - 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  return mapValues(value as Record<string, unknown>, (inner, name) =>
    secretNames.has(name) ? censor : withoutSecrets(inner, depth - 1),
  )
}

/** Returns the same object if no value changes. */
function mapValues(
  from: Record<string, unknown>,
  map: (value: unknown, name: string) => unknown,
): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null
  for (const name of Object.keys(from)) {
    const value = map(from[name], name)
    if (value !== from[name]) copy = { ...(copy ?? from), [name]: value }
  }
  return copy ?? from
}

function stderrStream(): DestinationStream {
  const stderr = pino.destination({ fd: 2, sync: true })
  return process.stderr.isTTY ? { write: (line) => void stderr.write(formatLogLine(line)) } : stderr
}
