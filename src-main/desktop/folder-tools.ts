import { pathToFileURL } from 'node:url'
import type { FolderTool } from '../../src-shared/contract/desktop.ts'
import { findTerminal, openTerminal } from '../base/open-terminal.ts'
import { isFolder } from './is-folder.ts'

/** Editors by the scheme of the links that they open; all of them take a folder after `file`. */
const editors: readonly FolderTool[] = [
  { id: 'cursor', name: 'Cursor' },
  { id: 'vscode', name: 'VS Code' },
  { id: 'vscode-insiders', name: 'VS Code Insiders' },
  { id: 'vscodium', name: 'VSCodium' },
  { id: 'windsurf', name: 'Windsurf' },
  { id: 'zed', name: 'Zed' },
]
const terminal: FolderTool = { id: 'terminal', name: 'Terminal' }

/** What the desktop says of links. */
export interface LinkOpener {
  /** The program that opens links of a scheme; empty without one. */
  handlerOf(link: string): string
  open(link: string): Promise<void>
}

/** The programs of this machine in which a folder can be opened. */
export async function findFolderTools({ handlerOf }: Pick<LinkOpener, 'handlerOf'>): Promise<readonly FolderTool[]> {
  const found = editors.filter(({ id }) => handlerOf(`${id}://`) !== '')
  return findTerminal() === null ? found : [...found, terminal]
}

/** Opens a folder in one of them; whether there was such a folder and such a program. */
export async function openInTool(id: string, path: string, links: LinkOpener): Promise<boolean> {
  if (!(await isFolder(path))) return false
  if (id === terminal.id) {
    const program = findTerminal()
    if (program !== null) await openTerminal(program, path)
    return program !== null
  }
  const editor = editors.find((one) => one.id === id)
  if (editor === undefined || links.handlerOf(`${editor.id}://`) === '') return false
  await links.open(`${editor.id}://file${pathToFileURL(path).pathname}`)
  return true
}
