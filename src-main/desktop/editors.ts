import { findOnPath } from '../platform/process/find-on-path.ts'

/** A local editor, opened by its program or by a link. */
export interface Editor {
  readonly id: string
  readonly name: string
  /** Program names, the usual one first. */
  readonly programs: readonly string[]
  /** Program arguments that open a line. */
  readonly at: (file: string, line: number) => readonly string[]
  /** Scheme of the editor's links, which continue with `file`, a path and a line; null if it has none. */
  readonly scheme: string | null
}

type Environment = Readonly<Record<string, string | undefined>>

const goTo: Editor['at'] = (file, line) => ['-g', `${file}:${line}`]
const afterColon: Editor['at'] = (file, line) => [`${file}:${line}`]
const asOption: Editor['at'] = (file, line) => ['--line', String(line), file]

/** The known editors in the order in which they are offered. */
export const editors: readonly Editor[] = [
  { id: 'cursor', name: 'Cursor', programs: ['cursor'], at: goTo, scheme: 'cursor' },
  { id: 'vscode', name: 'VS Code', programs: ['code'], at: goTo, scheme: 'vscode' },
  {
    id: 'vscode-insiders',
    name: 'VS Code Insiders',
    programs: ['code-insiders'],
    at: goTo,
    scheme: 'vscode-insiders',
  },
  { id: 'vscodium', name: 'VSCodium', programs: ['codium', 'vscodium'], at: goTo, scheme: 'vscodium' },
  { id: 'windsurf', name: 'Windsurf', programs: ['windsurf'], at: goTo, scheme: 'windsurf' },
  { id: 'zed', name: 'Zed', programs: ['zed', 'zeditor'], at: afterColon, scheme: 'zed' },
  { id: 'sublime', name: 'Sublime Text', programs: ['subl'], at: afterColon, scheme: null },
  { id: 'idea', name: 'IntelliJ IDEA', programs: ['idea', 'idea64'], at: asOption, scheme: null },
  { id: 'webstorm', name: 'WebStorm', programs: ['webstorm', 'webstorm64'], at: asOption, scheme: null },
  { id: 'pycharm', name: 'PyCharm', programs: ['pycharm', 'pycharm64'], at: asOption, scheme: null },
  { id: 'goland', name: 'GoLand', programs: ['goland', 'goland64'], at: asOption, scheme: null },
]

/** Returns an editor's program; null if it is not on PATH, or only as a script that a shell must start. */
export function programOf({ programs }: Editor, environment: Environment): string | null {
  for (const name of programs) {
    const program = findOnPath(name, environment)
    if (program !== null && !/\.(cmd|bat)$/i.test(program)) return program
  }
  return null
}
