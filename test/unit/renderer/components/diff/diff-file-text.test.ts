import { expect, test } from 'vitest'
import { fileStatusText } from '../../../../../src-renderer/components/diff/diff-file-text.ts'

const file: Parameters<typeof fileStatusText>[0] = {
  path: 'a',
  old_path: null,
  status: 'modified',
  binary: false,
  additions: 1,
  deletions: 0,
  old_mode: '100644',
  new_mode: '100644',
}

test.each([
  ['lines alone', {}, null],
  ['a new file', { status: 'added', old_mode: null }, 'New'],
  ['a new empty one', { status: 'added', old_mode: null, additions: 0 }, 'New, empty'],
  ['a deleted one', { status: 'deleted', new_mode: null }, 'Deleted'],
  ['a renamed one', { status: 'renamed', old_path: 'b', additions: 0 }, 'Renamed, same content'],
  ['a renamed and changed one', { status: 'renamed', old_path: 'b' }, 'Renamed'],
  ['a mode', { new_mode: '100755', additions: 0 }, 'Now executable'],
  ['a mode back', { old_mode: '100755' }, 'No longer executable'],
  ['a submodule', { old_mode: '160000', new_mode: '160000' }, 'Submodule'],
  ['a submodule that goes', { status: 'deleted', old_mode: '160000', new_mode: null }, 'Submodule, deleted'],
  ['a link in the place of a file', { new_mode: '120000' }, 'Link, was a file'],
  ['a picture', { binary: true, status: 'added', old_mode: null, additions: 0 }, 'Binary, new'],
  ['a changed picture', { binary: true, additions: 0 }, 'Binary'],
] as const)('describes %s beyond its lines', (_, change, words) => {
  expect(fileStatusText({ ...file, ...change })).toBe(words)
})
