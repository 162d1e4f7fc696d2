import { expect, test } from 'vitest'
import { shortPath } from '../../../../src-renderer/features/workspace/short-path.ts'

test.each([
  ['/home/mara/.local/share/copse/workspaces/1', '/home/mara', '~/.local/share/copse/workspaces/1'],
  ['/root/data/1', '/root', '~/data/1'],
  ['/srv/people/mara', '/srv/people/mara', '~'],
  ['C:\\Users\\mara\\Copse\\1', 'C:\\Users\\mara', '~\\Copse\\1'],
  ['/home/marabel/code/1', '/home/mara', '/home/marabel/code/1'],
  ['/srv/copse/1', '/home/mara', '/srv/copse/1'],
  ['/srv/copse/1', '', '/srv/copse/1'],
])('%s is, where %s is home, %s', (path, home, short) => {
  expect(shortPath(path, home)).toBe(short)
})
