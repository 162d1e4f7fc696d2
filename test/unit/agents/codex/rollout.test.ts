import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRollout } from '../../../../src-main/agents/codex/rollout.ts'

const began = new Date(2026, 10, 25, 12)
const thread = `${began
  .getTime()
  .toString(16)
  .padStart(12, '0')
  .replace(/^(.{8})/, '$1-')}-7a22-92d6-a15ce17df214`

/** A line as Codex 0.169 writes it after each request. */
const line = (input_tokens: number, more: object = {}) =>
  `${JSON.stringify({
    timestamp: began.toISOString(),
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: { total_token_usage: { input_tokens, cached_input_tokens: 5, output_tokens: 20 } },
      rate_limits: { limit_name: null, primary: null, secondary: null, ...more },
    },
  })}\n`

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'copse-rollout-'))
  const day = join(folder, 'sessions', '2026', '11', '25')
  mkdirSync(day, { recursive: true })
  const file = join(day, `rollout-2026-11-25T12-00-00-${thread}.jsonl`)
  return { folder, file, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

test('reports the usage of each request once, even half a line later, and the newest limits', () => {
  using place = open()
  const rollout = readRollout(place.folder, thread, false)
  expect(rollout.look()).toEqual([])
  writeFileSync(place.file, `{"type":"session_meta"}\n${line(100)}${line(200).slice(0, 40)}`)
  expect(rollout.look()).toEqual([{ input_tokens: 100, output_tokens: 20, cached_tokens: 5 }])
  const primary = { used_percent: 42, window_minutes: 300, resets_at: 1_795_610_000 }
  const secondary = { used_percent: 7.5, window_minutes: 10_080, resets_in_seconds: 60 }
  appendFileSync(place.file, `${line(200).slice(40)}not json "token_count"\n${line(300, { primary, secondary })}`)
  expect(rollout.look().map(({ input_tokens }) => input_tokens)).toEqual([200, 300])
  expect(rollout.look()).toEqual([])
  expect(rollout.windows()).toEqual([
    { name: '5 hours', used: 0.42, resets_at: new Date(1_795_610_000_000).toISOString() },
    { name: '7 days', used: 0.075, resets_at: new Date(began.getTime() + 60_000).toISOString() },
  ])
})

test('counts only what follows in a resumed session, and accepts a missing file', () => {
  using place = open()
  writeFileSync(place.file, line(100))
  const rollout = readRollout(place.folder, thread, true)
  expect(rollout.look()).toEqual([])
  appendFileSync(place.file, line(200))
  expect(rollout.look().map(({ input_tokens }) => input_tokens)).toEqual([200])
  expect(readRollout(place.folder, 'not-a-thread', false).look()).toEqual([])
  expect(readRollout(join(place.folder, 'missing'), thread, false).look()).toEqual([])
})
