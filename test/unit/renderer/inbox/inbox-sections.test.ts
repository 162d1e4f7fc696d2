import { expect, test } from 'vitest'
import { firstHunk } from '../../../../src-renderer/features/inbox/first-hunk.ts'
import { sectionOf, sectionsOf } from '../../../../src-renderer/features/inbox/inbox-sections.ts'
import type { NotificationType } from '../../../../src-shared/contract/notification-types.ts'
import type { ErrorAnnotation } from '../../../../src-shared/contract/tasks.ts'

const of = (event_type: NotificationType, read = false) => ({ event_type, read })
const held = (type: ErrorAnnotation['type']) => ({
  error_annotation: { type, message: '', recovery_actions: [] },
})
const free = { error_annotation: null }

test('puts a notification where its task stands now', () => {
  expect(sectionOf(of('execution.failed'), held('execution_failed'), true)).toBe('needs_you')
  // It was restarted.
  expect(sectionOf(of('execution.failed'), free, false)).toBe('info')
  expect(sectionOf(of('review.passed'), free, true)).toBe('needs_you')
  for (const type of ['usage_limit', 'limit_reached', 'execution_paused'] as const)
    expect(sectionOf(of('limit.warning'), held(type), true)).toBe('held')
  expect(sectionOf(of('task.done'), free, false)).toBe('info')
  expect(sectionOf(of('knowledge.proposed'), free, false)).toBe('needs_you')
  expect(sectionOf(of('knowledge.proposed', true), free, false)).toBe('info')
  // Without its task only the notification is known.
  expect(sectionOf(of('execution.asks'), null, false)).toBe('needs_you')
  expect(sectionOf(of('task.done'), null, false)).toBe('info')
})

test('leaves out sections without a row, and keeps the order within one', () => {
  const items = [1, 2, 3, 4].map((n) => ({ id: String(n) })) as unknown as Parameters<typeof sectionsOf>[0]
  const sections = sectionsOf(items, ({ id }) => (Number(id) % 2 === 0 ? 'needs_you' : 'info'))
  expect(sections.map(({ id, items: rows }) => [id, rows.map((one) => one.id)])).toEqual([
    ['needs_you', ['2', '4']],
    ['info', ['1', '3']],
  ])
})

test('shows the first changed place of a patch', () => {
  const patch = [
    ...['diff --git a/a.bin b/a.bin', 'Binary files a/a.bin and b/a.bin differ'],
    ...['diff --git a/src/b.ts b/src/b.ts', '--- a/src/b.ts', '+++ b/src/b.ts'],
    ...['@@ -8,5 +8,6 @@ function x', ' one', ' two', ' three', '-four', '+vier', '+five', ' six'],
    ...['diff --git a/c.ts b/c.ts', '--- a/c.ts', '+++ b/c.ts', '@@ -1 +1 @@', '-a', '+b'],
  ].join('\n')
  const hunk = firstHunk(patch)
  expect([hunk?.path, hunk?.first, hunk?.diff.additions, hunk?.diff.deletions]).toEqual(['src/b.ts', 11, 2, 1])
  expect(hunk?.diff.lines.map(({ sign, text }) => sign + text)).toEqual([
    ' two',
    ' three',
    '-four',
    '+vier',
    '+five',
    ' six',
  ])
  expect(firstHunk('diff --git a/a.bin b/a.bin\nBinary files differ')).toBeNull()
  const gone = 'diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n'
  expect(firstHunk(gone)?.path).toBe('x')
})
