import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { uploadFiles } from '../attachments.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findTask } from '../find.ts'
import { plain } from '../output.ts'
import { formatTable } from '../table.ts'

interface FilesOptions extends CommonOptions {
  readonly save?: string
}

/** Adds `svc task attach` and `svc task files`. */
export function addTaskAttach(task: Command): void {
  addClientCommand(task, {
    usage: 'attach <task> <file...>',
    summary: 'add files to a task, for its agents to read (10 MB each)',
    examples: ['svc task attach SHO-42 screenshot.png server.log'],
  }).action((ref: string, files: readonly string[], options: CommonOptions) =>
    runCommand(options, (scene) => attach(scene, ref, files)),
  )
  addClientCommand(task, {
    usage: 'files <task>',
    summary: 'list the files of a task',
    examples: ['svc task files SHO-42', 'svc task files SHO-42 --save /tmp'],
  })
    .option('--save <folder>', 'write them into this folder, over none that is there')
    .action((ref: string, options: FilesOptions) => runCommand(options, (scene) => listFiles(scene, ref, options)))
}

async function attach(scene: CommandContext, ref: string, files: readonly string[]): Promise<void> {
  const { id, ref: called, project_id } = await findTask(scene, ref)
  const items = await uploadFiles(scene, { project_id, task_id: id }, files)
  await scene.out.answer({ items }, () => `Added ${items.map(({ name }) => plain(name)).join(', ')} to ${called}.`)
}

async function listFiles(scene: CommandContext, ref: string, { save }: FilesOptions): Promise<void> {
  const { id } = await findTask(scene, ref)
  const answer = await scene.client.call('attachments.list', { task_id: id })
  for (const { id: attachment_id, name } of save === undefined ? [] : answer.items) {
    const { data_base64 } = await scene.client.call('attachments.download', { attachment_id })
    await writeFile(resolve(scene.cwd, save ?? '', name), data_base64, { encoding: 'base64', flag: 'wx' })
  }
  await scene.out.answer(answer, () =>
    answer.items.length === 0
      ? 'The task has no files.'
      : formatTable(
          ['Id', 'Name', 'Type', 'Bytes'],
          answer.items.map(({ id: file, name, media_type, size }) => [file, plain(name), media_type, String(size)]),
        ),
  )
}
