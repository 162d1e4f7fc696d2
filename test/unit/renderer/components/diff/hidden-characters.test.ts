import { expect, test } from 'vitest'
import { diffItems, type DiffViewFile } from '../../../../../src-renderer/components/diff/diff-items.ts'

test('escapes invisible characters in the lines of a diff', () => {
  const patch = [
    'diff --git a/a.js b/a.js',
    'index 1111111..2222222 100644',
    '--- a/a.js',
    '+++ b/a.js',
    '@@ -1 +1 @@',
    '-let a',
    '+let a\u202e\u200b',
    '',
  ].join('\n')
  const file: DiffViewFile = {
    path: 'a.js',
    old_path: null,
    status: 'modified' as const,
    additions: 1,
    deletions: 1,
    binary: false,
    truncated: false,
    reason: null,
  }
  const [item] = diffItems([file], [patch])
  expect(item?.fileDiff.additionLines.join('')).toContain('let a<U+202E><U+200B>')
})
