import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { shellCommand } from '../../platform/process/process-shell.ts'

/** The program and arguments to start for a script's `command`. */
export interface ScriptCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly verbatimArguments: boolean
}

/** Why a command can't be started, in a sentence for people. */
export interface CommandProblem {
  readonly problem: string
}

/**
 * Returns how to run a command: the path of a file, absolute or from `cwd`, runs that program even if it contains
 * shell syntax; anything else runs in the shell.
 */
export async function findCommand(command: string, cwd: string): Promise<ScriptCommand | CommandProblem> {
  const path = command.trim()
  const file = resolve(cwd, path)
  if (path.includes('\n') || !(await isFile(file))) return shellCommand(command)
  if (process.platform === 'win32') return shellCommand(`"${file}"`)
  if (!(await isExecutable(file))) return { problem: `${path} is not executable: chmod +x it, and commit that.` }
  return { file, args: [], verbatimArguments: false }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch (error) {
    // A path that can't be checked (a name of 100,000 characters, a NUL) is no file to run.
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
