import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FolderTool } from '../../src-shared/contract/desktop.ts'
import { findTerminal, openTerminal } from '../platform/process/open-terminal.ts'
import { spawnDetached } from '../platform/process/spawn-detached.ts'
import { editors, programOf, type Editor } from './editors.ts'
import { isFile, isFolder } from './is-folder.ts'

const terminal: FolderTool = { id: 'terminal', name: 'Terminal', files: false }

/** The desktop's handling of links. */
export interface LinkOpener {
  /** Returns the program that opens links of a scheme, or ''. */
  handlerOf(link: string): string
  open(link: string): Promise<void>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Finds the local programs that can open a folder. */
export async function findFolderTools(
  links: Pick<LinkOpener, 'handlerOf'>,
  environment: Environment = process.env,
): Promise<readonly FolderTool[]> {
  const found = editors
    .filter((editor) => programOf(editor, environment) !== null || opensLinks(editor, links))
    .map(({ id, name }) => ({ id, name, files: true }))
  return findTerminal() === null ? found : [...found, terminal]
}

/** Opens a folder in a tool. Returns whether both exist. */
export async function openInTool(
  id: string,
  path: string,
  links: LinkOpener,
  environment: Environment = process.env,
): Promise<boolean> {
  if (!(await isFolder(path))) return false
  if (id === terminal.id) {
    const program = findTerminal()
    if (program !== null) await openTerminal(program, path)
    return program !== null
  }
  const editor = editors.find((one) => one.id === id)
  if (editor === undefined) return false
  const program = programOf(editor, environment)
  if (program !== null) await spawnDetached(program, [path], path)
  else if (!opensLinks(editor, links)) return false
  else await links.open(linkTo(editor, path))
  return true
}

/** Opens a file at a line in an editor. Returns whether both exist. */
export async function openAtLine(
  id: string,
  path: string,
  line: number,
  links: LinkOpener,
  environment: Environment = process.env,
): Promise<boolean> {
  const editor = editors.find((one) => one.id === id)
  if (editor === undefined || !(await isFile(path))) return false
  const program = programOf(editor, environment)
  if (program !== null) await spawnDetached(program, editor.at(path, line), dirname(path))
  else if (!opensLinks(editor, links)) return false
  else await links.open(`${linkTo(editor, path)}:${line}`)
  return true
}

function opensLinks({ scheme }: Editor, { handlerOf }: Pick<LinkOpener, 'handlerOf'>): boolean {
  return scheme !== null && handlerOf(`${scheme}://`) !== ''
}

const linkTo = ({ scheme }: Editor, path: string): string => `${scheme ?? ''}://file${pathToFileURL(path).pathname}`
