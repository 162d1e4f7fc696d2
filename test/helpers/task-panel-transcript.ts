import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { ago } from './task-panel-ids.ts'
import { failing } from './task-panel-reviews.ts'

/** A transcript as an agent leaves it; `repeat` makes it long. */
export function transcript(now: number, repeat = 1): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [
    { type: 'prompt', at: ago(12.7, now), text: 'Retry with full jitter and honour Retry-After' },
  ]
  for (let n = 0; n < repeat; n++) {
    const at = ago(12 - (n / repeat) * 11, now)
    const call = (key: string, action: 'read' | 'edit' | 'run' | 'search', tool: string, target: string) =>
      ({ type: 'tool_call', at, id: `${key}${n}`, tool, action, target, input: {}, diff: null }) as const
    const result = (key: string, ok: boolean, text: string) =>
      ({ type: 'tool_result', at: new Date(Date.parse(at) + 6_200).toISOString(), id: `${key}${n}`, ok, text }) as const
    entries.push(
      {
        type: 'message',
        at,
        text: "Retries currently double without a random part, so a burst of failures comes back as a burst. I'll switch `nextDelay` to full jitter, then let a valid `Retry-After` set the floor.",
      },
      {
        type: 'thinking',
        at,
        text: 'Where does the random source come from, so that tests stay stable\n\nIt is injected by the policy.',
      },
      call('a', 'read', 'Read', 'src/delivery/backoff.ts'),
      result('a', true, 'export function nextDelay() {}\n'),
      call('b', 'read', 'Read', 'src/delivery/retry.ts'),
      result('b', true, 'export function retry() {}\n'),
      call('c', 'search', 'Grep', 'nextDelay\\('),
      result('c', true, 'src/a.ts:1\nsrc/b.ts:2\n'),
      {
        ...call('d', 'edit', 'Edit', 'src/delivery/backoff.ts'),
        diff: {
          path: 'src/delivery/backoff.ts',
          old_text:
            'export function nextDelay(attempt: number, policy: Policy): number {\n  const raw = policy.baseMs * 2 ** attempt;\n  return Math.min(raw, policy.maxMs);\n}',
          new_text:
            'export function nextDelay(attempt: number, policy: Policy): number {\n  const cap = Math.min(policy.baseMs * 2 ** attempt, policy.maxMs);\n  return Math.floor(policy.random() * cap);\n}',
        },
      },
      result('d', true, 'The file was updated.'),
      call('e', 'run', 'Bash', 'npm test -- delivery'),
      result('e', false, `${failing}\nexit code 1`),
      {
        type: 'message',
        at,
        text: 'The date form is parsed against `Date.now()` but the test freezes `clock.now()`. The production code should use the injected clock too.',
      },
      { type: 'prompt', at, text: 'Yes, and cap Retry-After at `policy.maxMs`. One customer answers with a week.' },
      { type: 'stdout', at, text: 'compiling…' },
      { type: 'stderr', at, text: 'warning: one deprecated option' },
      { type: 'usage', at, input_tokens: 184_000, output_tokens: 400, cost_usd: 0.84 },
    )
  }
  entries.push({
    type: 'tool_call',
    at: ago(0.1, now),
    id: 'last',
    tool: 'Bash',
    action: 'run',
    target: 'npm test -- delivery backoff',
    input: {},
    diff: null,
  })
  return entries
}
