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

/** pino's `*` matches exactly one level, so each depth is listed. */
const redactPaths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`, `*.*.*.${field}`])

/**
 * Creates the service's log: JSON lines on `stream`; by default stderr, where a terminal gets readable lines. Modules
 * use a `child` of it.
 */
export function createLogger(options: {
  readonly level: LevelWithSilent
  readonly stream?: DestinationStream
}): Logger {
  const err = createErrorText(process.env)
  return pino(
    { level: options.level, redact: { paths: redactPaths, censor: '[redacted]' }, base: null, serializers: { err } },
    options.stream ?? stderrStream(),
  )
}

function stderrStream(): DestinationStream {
  const stderr = pino.destination({ fd: 2, sync: true })
  return process.stderr.isTTY ? { write: (line) => void stderr.write(formatLogLine(line)) } : stderr
}
