import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Attachment } from '../../src-shared/contract/attachments.ts'
import { CliError } from './cli-error.ts'
import type { CommandContext } from './command-context.ts'

/** Uploads files to a project, for a task if one is named. Checks all files before it sends the first. */
export async function uploadFiles(
  { client, cwd }: Pick<CommandContext, 'client' | 'cwd'>,
  place: { readonly project_id: string; readonly task_id?: string },
  paths: readonly string[],
): Promise<Attachment[]> {
  const files = await Promise.all(paths.map((path) => readable(resolve(cwd, path), path)))
  const uploaded: Attachment[] = []
  for (const file of files) {
    const data_base64 = await readFile(file, 'base64')
    uploaded.push(await client.call('attachments.create', { ...place, name: basename(file), data_base64 }))
  }
  return uploaded
}

async function readable(file: string, given: string): Promise<string> {
  const info = await stat(file).catch(() => null)
  if (info?.isFile()) return file
  throw new CliError(
    'no_file',
    info ? `${given} is not a file. Name files, not folders.` : `There is no file ${given}.`,
  )
}
