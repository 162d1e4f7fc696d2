import { isTelemetryHost } from '../../src-shared/contract/telemetry-hosts.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { paint, plain } from './output.ts'

/** Lines of a tool's result that are enough to recognise it; `--json` prints all. */
const resultLines = 10

/** Returns a function that formats entries for people, called in order; '' for entries of no use to people. */
export function createTranscriptText(): (entry: TranscriptEntry) => string {
  let inLine = false
  return (entry) => {
    const isOutput = entry.type === 'stdout' || entry.type === 'stderr'
    const shown = textOf(entry)
    if (shown === '') return ''
    // Output arrives in pieces that may end within a line.
    const text = isOutput ? shown : `${inLine ? '\n' : ''}${shown}\n`
    inLine = isOutput && !text.endsWith('\n')
    return text
  }
}

function textOf(entry: TranscriptEntry): string {
  switch (entry.type) {
    case 'prompt':
      return paint('dim', block('>', plain(entry.text)))
    case 'message':
      return plain(entry.text)
    case 'thinking':
      return paint('dim', plain(entry.text))
    case 'tool_call':
      return paint('cyan', plain(`* ${entry.tool} ${entry.target ?? ''}`).trimEnd())
    case 'tool_result':
      return paint(entry.ok ? 'dim' : 'red', block(' ', shorten(plain(entry.text))))
    case 'stdout':
    case 'stderr':
      return plain(entry.text)
    case 'error':
      return paint('red', plain(entry.text))
    case 'denied':
      return paint('dim', plain(`- ${deniedText(entry)}`))
    case 'home_written':
      return paint('dim', plain(`- Wrote ${entry.paths.join(', ')} to its private home. \`svc agent keep\` keeps it.`))
    case 'question':
      return paint('yellow', plain(`? ${entry.text}`))
    case 'answer':
      return plain(`> ${entry.by.replace(/^user:/, '')}: ${entry.text}`)
    case 'usage':
    default:
      // A newer service may send kinds that this program does not know.
      return ''
  }
}

function deniedText({ what, target, count }: Extract<TranscriptEntry, { type: 'denied' }>): string {
  if (what === 'host' && isTelemetryHost(target)) return `Blocked the vendor’s telemetry at ${target}.`
  const times = count > 1 ? ` (${count} times)` : ''
  const allow = what === 'host' ? 'allowed_hosts' : 'extra_paths'
  return `Blocked ${what} ${target}${times}. Add it to the agent’s ${allow} to allow it.`
}

function block(mark: string, text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `${mark} ${line}`)
    .join('\n')
}

function shorten(text: string): string {
  const lines = text.trimEnd().split('\n')
  const more = lines.length - resultLines
  return more > 1 ? [...lines.slice(0, resultLines), `… ${more} more lines`].join('\n') : lines.join('\n')
}
