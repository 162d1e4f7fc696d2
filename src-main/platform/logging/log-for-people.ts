import { pino } from 'pino'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** Formats a log line for a terminal: time, level, message and details. */
export function formatLogLine(line: string): string {
  const entry = parseJson(line)
  if (typeof entry !== 'object' || entry === null) return line
  const { time, level, msg, module: _module, err, ...about } = entry as Readonly<Record<string, unknown>>
  const when = new Date(Number(time)).toTimeString().slice(0, 8)
  const words = [when, pino.levels.labels[Number(level)] ?? '', String(msg ?? '')].filter((word) => word !== '')
  const facts = Object.entries(about).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const trouble = typeof err === 'string' ? `\n${err}` : ''
  return `${[...words, ...facts].join(' ')}${trouble}\n`
}
