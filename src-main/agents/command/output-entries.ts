import { stripVTControlCharacters } from 'node:util'
import type { AgentLog } from '../../ports/logs.ts'

/** Converts the lines of one output into transcript entries. */
export interface OutputEntries {
  /** Takes whole lines, or a part of a very long one. */
  push(lines: Uint8Array): void
  /** Writes collected lines. */
  flush(): void
  /** Whether anything but white space was printed. */
  readonly spoke: boolean
  /** The last line that is not blank, cut to 300 characters; empty without one. */
  readonly lastLine: string
}

/** Lines that arrive within this time share an entry: people read blocks, not lines. */
const gatherMs = 60
const maxGathered = 32 * 1024

/**
 * Collects lines of `stdout` or `stderr` into entries without terminal codes; keeps only the last state of a line
 * that redraws itself (a progress bar). The raw log has everything unchanged.
 */
export function createOutputEntries(type: 'stdout' | 'stderr', log: Pick<AgentLog, 'entry'>): OutputEntries {
  const decoder = new TextDecoder()
  let gathered = ''
  let timer: NodeJS.Timeout | undefined
  let lastLine = ''
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (gathered === '') return
    const text = gathered
    gathered = ''
    log.entry({ type, at: new Date().toISOString(), text })
  }
  return {
    push(lines) {
      const text = readable(decoder.decode(lines, { stream: true }))
      gathered += text
      lastLine = findLastLine(text) ?? lastLine
      if (gathered.length >= maxGathered) flush()
      else if (gathered !== '') timer ??= setTimeout(flush, gatherMs)
    },
    flush,
    get spoke() {
      return lastLine !== ''
    },
    get lastLine() {
      return lastLine
    },
  }
}

function readable(text: string): string {
  return stripVTControlCharacters(text)
    .split('\n')
    .map((line) => {
      const whole = line.endsWith('\r') ? line.slice(0, -1) : line
      return whole.slice(whole.lastIndexOf('\r') + 1)
    })
    .join('\n')
}

function findLastLine(text: string): string | null {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? ''
  return line === '' ? null : line.slice(0, 300)
}
