import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findFolderTools, openInTool } from '../../../src-main/desktop/folder-tools.ts'

function links(schemes: readonly string[]) {
  const opened: string[] = []
  return {
    opened,
    handlerOf: (link: string) => (schemes.some((scheme) => link === `${scheme}://`) ? 'Some editor' : ''),
    open: (link: string) => {
      opened.push(link)
      return Promise.resolve()
    },
  }
}

test('the editors are those whose links something opens', async () => {
  const names = (await findFolderTools(links(['vscode', 'zed', 'mailto']))).map(({ name }) => name)
  expect(names.filter((name) => name !== 'Terminal')).toEqual(['VS Code', 'Zed'])
})

test('a folder is opened by a link that names it, whatever is in its path', async () => {
  const some = links(['vscode'])
  const folder = tmpdir()
  expect(await openInTool('vscode', folder, some)).toBe(true)
  expect(some.opened).toEqual([`vscode://file${folder}`])
})

test('what is no folder, and a program that is not there, open nothing', async () => {
  const some = links(['vscode'])
  expect(await openInTool('vscode', join(tmpdir(), 'nowhere #1'), some)).toBe(false)
  expect(await openInTool('cursor', tmpdir(), some)).toBe(false)
  expect(await openInTool('javascript', tmpdir(), some)).toBe(false)
  expect(some.opened).toEqual([])
})
