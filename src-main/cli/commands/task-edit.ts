import type { Command } from 'commander'
import { usageError } from '../cli-error.ts'
import { addClientCommand, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findTask } from '../find.ts'
import { plain } from '../output.ts'
import { textOf } from '../prompt.ts'

interface EditOptions extends CommonOptions {
  readonly title?: string
  readonly description?: string
  readonly on?: string
  readonly off?: boolean
}

/** `svc task edit`: changes what a task says, and what it is stacked on. */
export function addTaskEdit(task: Command): void {
  addClientCommand(task, {
    usage: 'edit <task>',
    summary: 'change the title or description of a task, or the task that it is stacked on',
    examples: ['svc task edit SHO-42 --on SHO-41', 'svc task edit SHO-42 --off'],
  })
    .option('--title <title>', 'new title')
    .option('--description <text>', 'new description; - reads it from stdin')
    .option('--on <task>', 'task on whose branch this one is to lie; it lands after that one')
    .option('--off', 'take it off the stack: its branch goes to the base branch')
    .action((ref: string, options: EditOptions) => runCommand(options, (scene) => edit(scene, ref, options)))
}

async function edit(scene: CommandContext, ref: string, { title, description, on, off }: EditOptions): Promise<void> {
  const { id: task_id } = await findTask(scene, ref)
  if (on !== undefined && off === true) throw usageError('Say --on or --off, not both.')
  const changes = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: await textOf(description) }),
    ...(on !== undefined && { stacked_on: (await findTask(scene, on)).id }),
    ...(off === true && { stacked_on: null }),
  }
  if (Object.keys(changes).length === 0) throw usageError('Say what to change: --title, --description, --on or --off.')
  const task = await scene.client.call('tasks.update', { task_id, ...changes })
  await scene.out.answer(task, () => `${task.ref}  ${plain(task.title)} is changed.`)
}
