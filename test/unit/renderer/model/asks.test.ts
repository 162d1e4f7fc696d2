import { describe, expect, test } from 'vitest'
import { answerOf, askText, fitsOnCard, showHidden } from '../../../../src-renderer/model/asks.ts'
import type { Ask, AskOption } from '../../../../src-shared/contract/executions.ts'

const option = (id: string, kind: AskOption['kind']): AskOption => ({
  id,
  label: id.toUpperCase(),
  description: null,
  kind,
})
const ask = (more: Partial<Ask>): Ask => ({
  id: 'a1',
  kind: 'permission',
  text: 'Asks to run ls',
  tool: 'Bash',
  action: 'run',
  target: 'ls',
  detail: 'ls',
  diff: null,
  options: [],
  multiple: false,
  takes_text: true,
  asked_at: '2026-11-21T10:00:00.000Z',
  ...more,
})
const allow = option('allow', 'allow_once')
const reject = option('reject', 'reject_once')

test('adds text only to a rejection', () => {
  const asked = ask({ options: [allow, reject] })
  expect(answerOf(asked, { option: reject, chosen: [], words: ' use pnpm ' })).toEqual({
    option_id: 'reject',
    text: 'use pnpm',
  })
  expect(answerOf(asked, { option: allow, chosen: [], words: 'use pnpm' })).toEqual({ option_id: 'allow' })
  const mute = ask({ options: [reject], takes_text: false })
  expect(answerOf(mute, { option: reject, chosen: [], words: 'why' })).toEqual({ option_id: 'reject' })
})

test('joins several choices and free text in the order of the options', () => {
  const options = ['red', 'green', 'blue'].map((id) => option(id, 'choice'))
  const asked = ask({ kind: 'question', options, multiple: true })
  expect(answerOf(asked, { option: null, chosen: ['blue', 'red'], words: 'and gold' })).toEqual({
    text: 'RED, BLUE, and gold',
  })
  expect(answerOf(asked, { option: null, chosen: [], words: 'none' })).toEqual({ text: 'none' })
})

test('escapes characters that would hide a part of a command', () => {
  expect(showHidden('echo ü 🙂\n\tls')).toBe('echo ü 🙂\n\tls')
  expect(showHidden('rm -rf /\rls\u202e\u200b\u001b[2K')).toBe('rm -rf /\\u{d}ls\\u{202e}\\u{200b}\\u{1b}[2K')
})

describe('what a box says', () => {
  const diff = { path: 'src/a.ts', old_text: 'a', new_text: 'b' }

  test('says a command once', () => {
    const detail = 'npm  publish\n--tag next'
    const command = ask({ text: 'Wants to run npm publish --tag next', target: 'npm publish --tag next', detail })
    expect(askText(command)).toEqual({ heading: 'Wants to run', plate: detail })
    const long = ask({ text: 'Wants to run npm pub…', target: 'npm pub…', detail })
    expect(askText(long)).toEqual({ heading: 'Wants to run', plate: detail })
  })
  test('leaves the path of an edit to its diff', () => {
    const edit = ask({ text: 'Asks to change src/a.ts', target: 'src/a.ts', detail: null, diff })
    expect(askText(edit)).toEqual({ heading: 'Asks to change', plate: null })
  })
  test('keeps a target that nothing below says', () => {
    const read = ask({ text: 'Asks to read /etc/hosts', target: '/etc/hosts', detail: '{\n  "file": "/etc/hosts"\n}' })
    expect(askText(read).heading).toBe('Asks to read /etc/hosts')
    expect(askText(ask({ text: 'Which one?', target: null, detail: null })).heading).toBe('Which one?')
  })
})

test('leaves to the panel what a card would cut', () => {
  expect(fitsOnCard(ask({}))).toBe(true)
  expect(fitsOnCard(ask({ detail: 'x'.repeat(500) }))).toBe(false)
  expect(fitsOnCard(ask({ detail: 'a\n'.repeat(12) }))).toBe(false)
  expect(fitsOnCard(ask({ diff: { path: 'a', old_text: null, new_text: 'line\n'.repeat(40) } }))).toBe(false)
  expect(fitsOnCard(ask({ options: [{ ...allow, description: 'y'.repeat(600) }] }))).toBe(false)
})
