import { Argument, type Command } from 'commander'
import { queueMoves } from '../../../src-shared/contract/action-names.ts'
import type { Queue, QueueMove } from '../../../src-shared/contract/queue.ts'
import { CliError } from '../cli-error.ts'
import { addClientCommand, addGroup, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject, findTask } from '../find.ts'
import { plain } from '../output.ts'
import { formatQueuePosition } from '../queue-position.ts'
import { formatTable } from '../table.ts'

interface QueueOptions extends CommonOptions {
  readonly project?: string
}

/** Adds `svc queue …`. */
export function addQueue(program: Command): void {
  const queue = addGroup(program, 'queue', 'show which agents run and wait, and change the order')
  addClientCommand(queue, {
    usage: 'list',
    summary: 'list the runs of agents, and those that wait in the order in which they start',
    examples: ['svc queue list', "svc queue list --json | jq '.waiting[].title'"],
  })
    .option('--project <project>', 'ID or name; by default that of the folder you are in')
    .action((options: QueueOptions) => runCommand(options, (scene) => list(scene, options)))
  addClientCommand(queue, {
    usage: 'move <task>',
    summary: 'move the waiting run of a task',
    examples: ['svc queue move SHO-42 first', 'svc queue move SHO-42 down'],
  })
    .addArgument(new Argument('<to>', 'one place up or down, or to an end').choices(queueMoves))
    .action((ref: string, to: QueueMove, options: CommonOptions) =>
      runCommand(options, (scene) => move(scene, ref, to)),
    )
}

async function list(scene: CommandContext, options: QueueOptions): Promise<void> {
  const { id } = await findProject(scene, options.project)
  const answer = await scene.client.call('projects.queue', { project_id: id })
  await scene.out.answer(answer, () => textOf(answer))
}

function textOf({ limit, running, waiting }: Queue): string {
  const rows = [
    ...running.map(({ title, role, started_at, model_silent_since }) => [
      'runs',
      title,
      role,
      `${started_at?.slice(11, 19) ?? 'starting'}${model_silent_since === null ? '' : `, silent since ${model_silent_since.slice(11, 19)}`}`,
    ]),
    ...waiting.map((entry) => ['waits', entry.title, entry.role, formatQueuePosition(entry)]),
  ]
  const count = `${running.length} of ${limit} running, ${waiting.length} queued`
  return rows.length === 0 ? `${count}.` : `${formatTable(['', 'TASK', 'ROLE', 'SINCE, OR WHY'], rows)}\n\n${count}`
}

async function move(scene: CommandContext, text: string, to: QueueMove): Promise<void> {
  const { id, project_id, ref } = await findTask(scene, text)
  const { waiting } = await scene.client.call('projects.queue', { project_id })
  const entry = waiting.find(({ task_id }) => task_id === id)
  if (!entry) throw new CliError('not_queued', `${ref} has no run that waits. \`svc queue list\` lists those that do.`)
  const answer = await scene.client.call('executions.move_in_queue', { execution_id: entry.execution_id, to })
  const at = answer.waiting.findIndex(({ execution_id }) => execution_id === entry.execution_id) + 1
  await scene.out.answer(answer, () => `${plain(ref)} is number ${at} of ${answer.waiting.length} in the queue.`)
}
