import { expect, test } from 'vitest'
import { folderCommand, shortPath } from '../../../../src-renderer/features/workspace/folder-path.ts'

test.each([
  ['/home/mara/.local/share/copse/workspaces/1', '/home/mara', '~/.local/share/copse/workspaces/1'],
  ['/root/data/1', '/root', '~/data/1'],
  ['/srv/people/mara', '/srv/people/mara', '~'],
  ['C:\\Users\\mara\\Copse\\1', 'C:\\Users\\mara', '~\\Copse\\1'],
  ['/home/marabel/code/1', '/home/mara', '/home/marabel/code/1'],
  ['/srv/copse/1', '/home/mara', '/srv/copse/1'],
  ['/srv/copse/1', '', '/srv/copse/1'],
])('shortens %s with the home %s to %s', (path, home, short) => {
  expect(shortPath(path, home)).toBe(short)
})

test('quotes the folder in a cd command where a shell needs it', () => {
  expect(folderCommand('/home/me/copse/workspaces/1a-2b')).toBe('cd /home/me/copse/workspaces/1a-2b')
  expect(folderCommand("/home/me/it's mine")).toBe("cd '/home/me/it'\\''s mine'")
  expect(folderCommand('/tmp/$(rm -r x)')).toBe("cd '/tmp/$(rm -r x)'")
  expect(folderCommand('C:\\Users\\me\\copse')).toBe('cd /d "C:\\Users\\me\\copse"')
})
