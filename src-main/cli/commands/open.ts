import type { Command } from 'commander'
import { openOnDesktop } from '../../platform/process/terminal-program.ts'
import { findProject, findTask } from '../find.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'

/** Adds `svc open`. */
export function addOpen(program: Command): void {
  addClientCommand(program, {
    usage: 'open [task]',
    summary: 'open a task, or the board of the folder’s project, in the browser, and print its address',
    examples: ['svc open', 'svc open SHO-42', 'svc open --project Shop'],
  })
    .option('--project <project>', 'its board; id or name')
    .action((ref: string | undefined, options: CommonOptions & { project?: string }) =>
      runCommand(options, (scene) => open(scene, ref, options.project)),
    )
}

async function open(scene: CommandContext, ref: string | undefined, project: string | undefined): Promise<void> {
  const address = `${scene.url}/#/${await pagePath(scene, ref, project)}`
  const opened = await openOnDesktop(address, scene.env, process.platform)
  await scene.out.answer({ url: address, opened }, () => address)
  if (!opened) scene.out.info('This machine has no desktop to open it on.')
}

async function pagePath(scene: CommandContext, ref: string | undefined, project: string | undefined): Promise<string> {
  if (ref === undefined) return `p/${(await findProject(scene, project)).id}`
  const task = await findTask(scene, ref)
  return `p/${task.project_id}/t/${task.id}`
}
