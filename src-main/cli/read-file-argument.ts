import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError } from './cli-error.ts'
import type { CommandContext } from './command-context.ts'
import { textOf } from './prompt.ts'

/** Returns the text of the file that an argument names; of standard input for `-`. */
export async function readFileArgument({ cwd }: Pick<CommandContext, 'cwd'>, file: string): Promise<string> {
  if (file === '-') return await textOf(file)
  return await readFile(resolve(cwd, file), 'utf8').catch((cause: unknown) => {
    throw new CliError('no_file', `${file} could not be read.`, { cause })
  })
}
