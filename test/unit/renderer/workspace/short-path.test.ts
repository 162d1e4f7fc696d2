import { expect, test } from 'vitest'
import { shortPath } from '../../../../src-renderer/features/workspace/short-path.ts'

test.each([
  ['/home/mara/.local/share/copse/workspaces/1', '/home/mara/.local/share/copse', '~/.local/share/copse/workspaces/1'],
  ['/Users/mara/Library/Copse/1', '/Users/mara/Library/Copse', '~/Library/Copse/1'],
  ['/root/data/1', '/root/data', '~/data/1'],
  ['C:\\Users\\mara\\Copse\\1', 'C:\\Users\\mara\\Copse', '~\\Copse\\1'],
  ['/home/mara/code/1', '/srv/copse', '/home/mara/code/1'],
  ['/home/mara/code/1', '/home/otto/copse', '/home/mara/code/1'],
  ['/srv/copse/1', '/home/mara/copse', '/srv/copse/1'],
])('%s of a service with its data in %s is %s', (path, dataDir, short) => {
  expect(shortPath(path, dataDir)).toBe(short)
})
