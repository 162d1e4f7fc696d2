import { expect, test } from 'vitest'
import { createTranscriptText } from '../../../src-main/cli/transcript-text.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'

const at = '2026-11-21T09:30:00.000Z'

function shown(entries: readonly TranscriptEntry[]): string {
  const toText = createTranscriptText()
  return entries.map(toText.next).join('') + toText.end()
}

test('prints output as it came and starts a new line for what follows', () => {
  expect(
    shown([
      { type: 'stdout', at, text: 'half a ' },
      { type: 'stdout', at, text: 'line' },
      { type: 'message', at, text: 'Done.' },
      { type: 'stderr', at, text: 'whole\n' },
      { type: 'error', at, text: 'It broke.' },
    ]),
  ).toBe('half a line\nDone.\nwhole\nIt broke.\n')
})

test('marks a prompt, cuts a long tool result and leaves usage to --json', () => {
  const text = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')
  const lines = shown([
    { type: 'prompt', at, text: 'Do this\nand that\n' },
    { type: 'tool_call', at, id: '1', tool: 'Bash', action: 'run', target: 'npm test', input: {}, diff: null },
    { type: 'tool_result', at, id: '1', ok: true, text },
    { type: 'usage', at, input_tokens: 1, output_tokens: 2, cost_usd: null },
  ]).split('\n')
  expect(lines.slice(0, 4)).toEqual(['> Do this', '> and that', '* Bash npm test', '  line 0'])
  expect(lines.slice(-2)).toEqual(['  … 20 more lines', ''])
})

test('prints a denial in one line that says how to allow it', () => {
  expect(shown([{ type: 'denied', at, what: 'host', target: 'a.test', count: 3 }])).toBe(
    '- Blocked host a.test (3 times). Add it to the agent’s allowed_hosts to allow it.\n',
  )
})

test('prints all telemetry that was blocked in one line', () => {
  const hosts = ['statsig.anthropic.com', 'o1.ingest.sentry.io', 'browser-intake-us5-datadoghq.com']
  const denied = [...hosts, ...hosts].map((target) => ({ type: 'denied', at, what: 'host', target, count: 2 }) as const)
  expect(shown([...denied, { type: 'stdout', at, text: 'Done.' }])).toBe(
    `Done.\n- Blocked the vendor’s telemetry (3 hosts): ${hosts.join(', ')}.\n`,
  )
})

test('names no way to allow what no run could reach', () => {
  expect(shown([{ type: 'denied', at, what: 'host', target: '169.254.169.254', count: 1 }])).toBe(
    '- Blocked host 169.254.169.254.\n',
  )
})

test('removes control characters and skips entries of a newer service', () => {
  expect(shown([{ type: 'message', at, text: 'a\u001b[2Jb\r\u0007c' }])).toBe('a[2Jbc\n')
  expect(shown([{ type: 'sang', at } as unknown as TranscriptEntry])).toBe('')
})
