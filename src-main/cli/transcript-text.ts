import { hostProblem } from '../../src-shared/contract/allowed-hosts.ts'
import { isTelemetry } from '../../src-shared/contract/telemetry-hosts.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { paint, plain } from './output.ts'

/** Lines of a tool's result that are enough to recognise it; `--json` prints all. */
const resultLines = 10

export interface TranscriptText {
  /** Formats the next entry for people; '' for entries of no use to people. */
  readonly next: (entry: TranscriptEntry) => string
  /** Formats what is told once for the whole run. */
  readonly end: () => string
}

export function createTranscriptText(): TranscriptText {
  let inLine = false
  const telemetry = new Set<string>()
  const ownLine = (text: string): string => `${inLine ? '\n' : ''}${text}\n`
  return {
    next: (entry) => {
      if (entry.type === 'denied' && isTelemetry(entry)) {
        telemetry.add(entry.target)
        return ''
      }
      const isOutput = entry.type === 'stdout' || entry.type === 'stderr'
      const shown = textOf(entry)
      if (shown === '') return ''
      // Output arrives in pieces that may end within a line.
      const text = isOutput ? shown : ownLine(shown)
      inLine = isOutput && !text.endsWith('\n')
      return text
    },
    end: () => {
      if (telemetry.size === 0) return ''
      const hosts = telemetry.size === 1 ? '1 host' : `${telemetry.size} hosts`
      return ownLine(paint('dim', plain(`- Blocked the vendor’s telemetry (${hosts}): ${[...telemetry].join(', ')}.`)))
    },
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
  const times = count > 1 ? ` (${count} times)` : ''
  const allow = what === 'host' ? 'allowed_hosts' : 'extra_paths'
  if (what === 'host' && hostProblem(target) !== null) return `Blocked ${what} ${target}${times}.`
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
