import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { problemsOf } from '../../../../src-renderer/features/hooks/hook-problems.ts'
import {
  codesOf,
  copyOf,
  draftOf,
  hooksOf,
  movedTo,
  newPlugin,
  newScript,
  rekeyed,
  sameDraft,
  withList,
} from '../../../../src-renderer/model/hook-draft.ts'
import { LifecycleHooks } from '../../../../src-shared/contract/lifecycle-hooks.ts'

const saved = LifecycleHooks.parse({
  before_work: [
    { type: 'script', command: 'npm ci', timeout_seconds: 300, blocking: true, success_exit_codes: [0, 3] },
    { type: 'plugin', name: 'knowledge-inject', enabled: false, config: { limit: 3 }, applies_to: 'agent_only' },
  ],
  on_task_done: [{ type: 'script', command: 'git tag done' }],
})

describe('a draft', () => {
  test('reads saved hooks and saves them unchanged', () => {
    expect(hooksOf(draftOf(saved))).toEqual(saved)
    expect(hooksOf(draftOf({}))).toEqual({})
  })
  test('gives every hook a key, and equals another draft of the same hooks', () => {
    const [one, other] = [draftOf(saved), draftOf(saved)]
    const keys = [one, other, rekeyed(one)].flatMap((draft) =>
      Object.values(draft)
        .flat()
        .map((hook) => hook.key),
    )
    expect(new Set(keys).size).toBe(9)
    expect(sameDraft(one, other)).toBe(true)
    expect(sameDraft(one, withList(one, 'on_work_stop', [newScript('on_work_stop')]))).toBe(false)
  })
  test('notices a change of order', () => {
    const draft = draftOf(saved)
    expect(sameDraft(draft, withList(draft, 'before_work', draft.before_work.toReversed()))).toBe(false)
  })
  test('keeps a typed number, and trims the script', () => {
    const script = { ...newScript('before_work'), command: '\nnpm ci\n', timeout: ' 60 ', codes: '0,  3 4' }
    expect(hooksOf(withList(draftOf({}), 'before_work', [script]))).toEqual({
      before_work: [
        {
          type: 'script',
          command: 'npm ci',
          timeout_seconds: 60,
          blocking: true,
          success_exit_codes: [0, 3, 4],
          applies_to: 'all',
        },
      ],
    })
  })
  test('blocks by default only where something waits for the script', () => {
    expect(newScript('before_work').blocking).toBe(true)
    expect(newScript('on_work_start').blocking).toBe(false)
  })
})

test('reads exit codes separated by commas, spaces or lines', () => {
  expect(codesOf(' 0, 3\n255 ')).toEqual([0, 3, 255])
  expect(codesOf('1.5 x')).toEqual([Number.NaN, Number.NaN])
  expect(codesOf(' ')).toEqual([])
})

describe('a hook that is moved', () => {
  const list = ['a', 'b', 'c'].map((name) => newPlugin(name))
  const names = (key: string | undefined, to: number) =>
    movedTo(list, key ?? '', to)
      .map((hook) => (hook.type === 'plugin' ? hook.name : ''))
      .join('')
  test('goes to its place, as near as the list allows', () => {
    const [a, , c] = list
    expect([names(a?.key, 1), names(a?.key, 2), names(a?.key, 9)]).toEqual(['bac', 'bca', 'bca'])
    expect([names(c?.key, 0), names(c?.key, -1), names(c?.key, 2)]).toEqual(['cab', 'cab', 'abc'])
  })
  test('stays if it does not exist, and a copy is another hook', () => {
    expect(names('gone', 0)).toBe('abc')
    const [a] = list
    expect(a && copyOf(a).key).not.toBe(a?.key)
  })
})

test('passes the service’s schema whenever it has no problem here', () => {
  const typed = fc.oneof(fc.integer({ min: -2, max: 90_000 }).map(String), fc.constantFrom('', '1.5', 'x', ' 7 '))
  const script = fc
    .record({
      command: fc.constantFrom('npm ci', '', '  ', '\n#!/bin/sh\n'),
      timeout: typed,
      codes: fc.array(fc.integer({ min: -1, max: 257 }), { maxLength: 4 }).map((codes) => codes.join(', ')),
      applies_to: fc.constantFrom('all' as const, 'agent_only' as const, 'user_only' as const),
    })
    .map((fields) => ({ ...newScript('before_work'), ...fields }))
  fc.assert(
    fc.property(fc.array(script, { minLength: 1, maxLength: 3 }), (scripts) => {
      const draft = withList(draftOf({}), 'before_work', scripts)
      expect(problemsOf(draft, []).length === 0).toBe(LifecycleHooks.safeParse(hooksOf(draft)).success)
    }),
  )
})
