import { inputOf } from '../../../src-shared/contract/executor-profiles.ts'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { findTask } from '../find.ts'
import { textOf } from '../prompt.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'

interface MessageOptions extends CommonOptions {
  readonly now?: boolean
}

/** Adds `svc task message`. */
export function addTaskMessage(task: Command): void {
  addClientCommand(task, {
    usage: 'message <task> <text>',
    summary: 'send a message to a task’s agent; delivered after the current run (- reads stdin)',
    examples: ['svc task message SHO-42 "Keep the old flag working"', 'svc task message SHO-42 "Stop there" --now'],
  })
    .option('--now', 'let the agent read it in the middle of its run, where it can')
    .action((ref: string, text: string, options: MessageOptions) =>
      runCommand(options, (scene) => message(scene, ref, text, options.now === true)),
    )
}

async function message(scene: CommandContext, ref: string, text: string, now: boolean): Promise<void> {
  const { client, out } = scene
  const { id: task_id } = await findTask(scene, ref)
  const words = await textOf(text)
  if (now) {
    const { active_execution_id: execution_id } = await client.call('tasks.get', { task_id })
    if (execution_id === null)
      throw new CliError('execution_not_running', 'No run is active on this task. Leave --now out.')
    const { executor } = await client.call('executions.get', { execution_id })
    if (inputOf(executor) === null)
      throw new CliError(
        'execution_not_running',
        "This agent can't read messages during a run. Leave out --now to send it afterwards.",
      )
    await client.call('executions.input', { execution_id, data: words })
    await out.answer({ execution_id }, () => 'Sent.')
    return
  }
  // Comments are sent from the app, where they are visible.
  const answer = await client.call('tasks.feedback', { task_id, comment_ids: [], message: words })
  const waits = answer.execution.status === 'queued' && answer.task.active_execution_id !== answer.execution.id
  await out.answer(answer, () =>
    waits ? 'The agent reads it after the current run.' : 'Sent: the agent starts with it.',
  )
}
