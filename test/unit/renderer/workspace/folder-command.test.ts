import { expect, test } from 'vitest'
import { folderCommand } from '../../../../src-renderer/features/workspace/folder-command.ts'

test('the command that goes to a folder is quoted where a shell needs it', () => {
  expect(folderCommand('/home/me/copse/workspaces/1a-2b')).toBe('cd /home/me/copse/workspaces/1a-2b')
  expect(folderCommand("/home/me/it's mine")).toBe("cd '/home/me/it'\\''s mine'")
  expect(folderCommand('/tmp/$(rm -r x)')).toBe("cd '/tmp/$(rm -r x)'")
  expect(folderCommand('C:\\Users\\me\\copse')).toBe('cd /d "C:\\Users\\me\\copse"')
})
