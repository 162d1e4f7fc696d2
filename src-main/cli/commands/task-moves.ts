import { Argument, type Command } from 'commander'
import type { OperationInput, OperationOutput } from '../../../src-shared/contract/operations.ts'
import { recoveryActions } from '../../../src-shared/contract/action-names.ts'
import { hereRunner } from '../../../src-shared/contract/runners.ts'
import type { RecoveryAction, Task } from '../../../src-shared/contract/tasks.ts'
import { CliError, usageError } from '../cli-error.ts'
import { findAgent, findRunner, findTask } from '../find.ts'
import { paint, plain } from '../output.ts'
import { textOf } from '../prompt.ts'
import {
  addClientCommand,
  addGroup,
  collect,
  runCommand,
  wholeNumber,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'
import { queuePositions, formatQueuePosition } from '../queue-position.ts'

interface MoveOptions extends CommonOptions {
  readonly reason?: string
  readonly tree?: string
  readonly onRed?: boolean
  readonly wait?: boolean
}

interface ClaimOptions extends CommonOptions {
  readonly agent?: string
  readonly prompt?: string
  readonly model?: string
  readonly timeout?: number
  readonly wait?: boolean
  readonly on?: readonly string[]
  readonly whenReady?: boolean
}

/** Adds `svc task claim`, `move`, `stop`, `recover`, `undo`, `revert` and `cancel`. */
export function addTaskMoves(task: Command): void {
  addClientCommand(task, {
    usage: 'claim <task>',
    summary: 'start a task with an agent, or as yourself',
    examples: [
      'svc task claim SHO-42 --agent Claude',
      'svc task claim SHO-42 --agent Claude --on Box',
      'svc task claim SHO-42',
    ],
  })
    .option('--agent <agent>', 'id or name of the agent that is to work')
    .option('--prompt <text>', 'extra instructions for the agent (- reads stdin)')
    .option('--model <model>', 'the model for this time')
    .option('--timeout <seconds>', 'time limit', wholeNumber(1, 31_536_000))
    .option('--wait', 'wait if the worktree is in use, or no runner is ready')
    .option('--on <runner>', 'where it may run, by id or name; the first with room (repeatable)', collect)
    .option('--when-ready', 'start automatically once no dependency is open; needs --agent')
    .action((ref: string, options: ClaimOptions) => runCommand(options, (scene) => claim(scene, ref, options)))
  addClientCommand(task, {
    usage: 'move <task> <state>',
    summary: 'move a task to another state; to `merging`, merge it',
    examples: ['svc task move SHO-42 merging', 'svc task move SHO-42 blocked --reason "Waits for the API key"'],
  })
    .option('--reason <text>', 'why; kept in the task’s history')
    .option('--tree <tree>', seenTree)
    .option('--on-red', 'merge although the base branch fails its checks')
    .option('--no-wait', 'do not wait while a merge is tested')
    .action((ref: string, status: string, options: MoveOptions) =>
      runCommand(options, (scene) => move(scene, ref, status, options)),
    )
  addClientCommand(task, {
    usage: 'stop <task>',
    summary: 'stop the current run; its work stays in the worktree',
    examples: ['svc task stop SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => stop(scene, ref)))
  addClientCommand(task, {
    usage: 'recover <task>',
    summary: 'run a recovery action listed by `svc task show`',
    examples: ['svc task recover SHO-42 resume', 'svc task recover SHO-42 skip_hook_once --reason "Known"'],
  })
    .addArgument(new Argument('<action>').choices(recoveryActions))
    .option('--reason <text>', 'why; kept in the task’s history')
    .action((ref: string, action: RecoveryAction, options: CommonOptions & { reason?: string }) =>
      runCommand(options, (scene) => recover(scene, ref, action, options.reason)),
    )
  addClientCommand(task, {
    usage: 'undo <task>',
    summary: 'undo the merge of a task, within 10 minutes; it goes back to its gate, still approved',
    examples: ['svc task undo SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => undo(scene, ref)))
  addClientCommand(task, {
    usage: 'revert <task>',
    summary: 'create a task that reverts the merge of another; it is reviewed and merged like any other',
    examples: ['svc task revert SHO-42 --reason "It broke the checkout"'],
  })
    .option('--reason <text>', 'why; the new task says so')
    .action((ref: string, options: CommonOptions & { reason?: string }) =>
      runCommand(options, (scene) => revert(scene, ref, options.reason)),
    )
  addClientCommand(task, {
    usage: 'cancel <task>',
    summary: 'cancel a task; its worktree is kept for 24 hours',
    examples: ['svc task cancel SHO-42', 'svc task cancel SHO-42 --close-pull-request'],
  })
    .option('--close-pull-request', 'close its open pull request too; without it that stays open')
    .action((ref: string, options: CommonOptions & { closePullRequest?: true }) =>
      runCommand(options, async (scene) => {
        const { id } = await findTask(scene, ref)
        const request = { task_id: id, ...(options.closePullRequest && { close_pull_request: true }) }
        const answer = await scene.out.withProgress('Cancelling …', scene.client.call('tasks.cancel', request))
        await scene.out.answer(answer, () => whereItIs(answer.task))
      }),
    )
}

interface JudgeOptions {
  readonly tree?: string
  /** false: a rejection leaves the caller's comments behind. */
  readonly comments?: boolean
}

const seenTree = 'tree of the diff you reviewed, as `svc task diff` prints it; refused if the work has changed'

/** Adds `svc review pass` and `svc review fail`. */
export function addReview(program: Command): void {
  const review = addGroup(program, 'review', 'review a task')
  for (const [verdict, summary, example] of [
    ['pass', 'approve the work', 'svc review pass SHO-42'],
    [
      'fail',
      'request changes, with your comments that were not sent yet',
      'svc review fail SHO-42 "The empty list is missing"',
    ],
  ] as const) {
    const command = addClientCommand(review, {
      usage: `${verdict} <task> [feedback]`,
      summary: `${summary} (- reads the feedback from stdin)`,
      examples: [example],
    })
    if (verdict === 'pass') command.option('--tree <tree>', seenTree)
    else command.option('--no-comments', 'keep your comments that were not sent yet as drafts')
    command.action((ref: string, words: string | undefined, options: CommonOptions & JudgeOptions) =>
      runCommand(options, (scene) => judge(scene, ref, verdict, { ...options, words })),
    )
  }
}

async function claim(scene: CommandContext, ref: string, options: ClaimOptions): Promise<void> {
  const { client, out } = scene
  const { prompt, model, timeout, wait } = options
  const { id } = await findTask(scene, ref)
  const agent = options.agent === undefined ? null : await findAgent(scene, options.agent)
  const runner_ids: string[] = []
  for (const text of options.on ?? []) runner_ids.push((await findRunner(scene, text)).id)
  const overrides: OperationInput<'tasks.claim'>['overrides'] = {
    ...(prompt !== undefined && { prompt: await textOf(prompt) }),
    ...(model !== undefined && { model }),
    ...(timeout !== undefined && { timeout_seconds: timeout }),
    ...(wait === true && { lock_policy: 'wait' as const }),
    ...(runner_ids.length > 0 && { runner_ids }),
  }
  if (options.whenReady === true) {
    if (agent === null) throw usageError('Say with --agent which agent is to start the task.')
    const { task } = await client.call('tasks.start_when_ready', { task_id: id, agent_id: agent.id, overrides })
    await out.answer({ task }, () => {
      if (task.start_when_ready === null) return whereItIs(task)
      return `${task.ref} starts with ${plain(agent.name)} once no dependency is open.`
    })
    return
  }
  const answer = await out.withProgress(
    'Making the worktree …',
    client.call('tasks.claim', {
      task_id: id,
      ...(agent && { agent_id: agent.id }),
      ...(Object.keys(overrides).length > 0 && { overrides }),
    }),
  )
  if (!out.json) for (const line of limitLines(answer)) out.info(line)
  const turns = agent === null || out.json ? [] : await queuePositions(scene, answer.task.project_id)
  const turn = turns.find(({ execution_id }) => execution_id === answer.execution?.id)
  const place = await placeOf(scene, answer)
  await out.answer(answer, () => {
    if (answer.execution === null && agent)
      return `${answer.task.ref} starts with ${plain(agent.name)} when there is room.`
    const next = agent === null ? '' : `\nFollow it with: svc task logs -f ${answer.task.ref}`
    const who = agent
      ? `${plain(agent.name)} ${turn ? `waits (${formatQueuePosition(turn)}) to work` : 'works'}`
      : 'You work'
    return `${whereItIs(answer.task)} ${who} on it${place}.${next}`
  })
}

/** Returns where a run is: its runner, or its folder on this machine; nothing while no runner has it yet. */
async function placeOf(
  { client }: CommandContext,
  { execution, workspace }: OperationOutput<'tasks.claim'>,
): Promise<string> {
  const folder = workspace === null ? '' : ` in ${workspace.path}`
  const runners = execution === null ? [] : (await client.call('runners.list', {})).items
  if (execution === null || runners.length === 1) return folder
  const { runner_id } = await client.call('executions.get', { execution_id: execution.id })
  if (runner_id === null) return execution.agent_id === null ? folder : ''
  const runner = runners.find(({ id }) => id === runner_id && id !== hereRunner)
  return runner ? ` on ${plain(runner.name)}` : folder
}

async function move(
  scene: CommandContext,
  ref: string,
  status: string,
  { reason, tree, onRed = false, wait = true }: MoveOptions,
): Promise<void> {
  const { id, version } = await findTask(scene, ref)
  const given = { ...(reason !== undefined && { reason }), ...(tree !== undefined && { tree }) }
  const request = { task_id: id, status, version, ...given, on_red: onRed, respond_async: !wait }
  const answer = await scene.out.withProgress(`Moving to ${status} …`, scene.client.call('tasks.transition', request))
  await scene.out.answer(answer, () => [whereItIs(answer.task), ...landingText(answer)].join('\n'))
}

function landingText({ landing, landing_deferred }: OperationOutput<'tasks.transition'>): string[] {
  if (landing_deferred) return ['Its merge is being tested. See how it goes with: svc landing list']
  if (landing?.result !== 'red') return []
  return [
    `Merged, it fails \`${plain(landing.step ?? '')}\`, so nothing was merged:`,
    plain(landing.output_tail.trim()),
  ]
}

async function undo(scene: CommandContext, ref: string): Promise<void> {
  const { client, out } = scene
  const { id, merged } = await findTask(scene, ref)
  const answer = await out.withProgress('Undoing the merge …', client.call('tasks.unmerge', { task_id: id }))
  const base = merged === null ? '' : ` ${plain(merged.base_branch)} is as it was before.`
  await out.answer(answer, () => `${whereItIs(answer.task)}${base}`)
}

async function revert(scene: CommandContext, ref: string, reason: string | undefined): Promise<void> {
  const { client, out } = scene
  const { id } = await findTask(scene, ref)
  const request = { task_id: id, ...(reason !== undefined && { reason }) }
  const task = await out.withProgress('Reverting …', client.call('tasks.revert', request))
  await out.answer(task, () => whereItIs(task))
}

async function stop(scene: CommandContext, ref: string): Promise<void> {
  const { client, out } = scene
  const { active_execution_id: execution_id } = await findTask(scene, ref)
  if (execution_id === null) throw new CliError('execution_not_running', 'No run is active on this task.')
  const answer = await out.withProgress('Stopping …', client.call('executions.stop', { execution_id }))
  await out.answer(answer, () => whereItIs(answer.task))
}

async function recover(
  scene: CommandContext,
  ref: string,
  action: RecoveryAction,
  reason: string | undefined,
): Promise<void> {
  const { id } = await findTask(scene, ref)
  const request = { task_id: id, action, ...(reason !== undefined && { reason }) }
  const answer = await scene.out.withProgress('Going on …', scene.client.call('tasks.recover', request))
  await scene.out.answer(answer, () => whereItIs(answer.task))
}

async function judge(
  scene: CommandContext,
  ref: string,
  verdict: 'pass' | 'fail',
  { words, tree, comments }: JudgeOptions & { readonly words: string | undefined },
): Promise<void> {
  const { id, version } = await findTask(scene, ref)
  const feedback = words === undefined ? {} : { feedback: await textOf(words) }
  const seen = tree === undefined ? {} : { tree }
  const more = { ...feedback, ...seen, ...(comments === false && { comment_ids: [] }) }
  const answer = await scene.client.call('tasks.verdict', { task_id: id, verdict, version, ...more })
  await scene.out.answer(answer, () => whereItIs(answer.task))
}

/** Describes a task's state and its problem. */
function whereItIs({ ref, status, error_annotation }: Task): string {
  const trouble =
    error_annotation === null
      ? ''
      : ` ${paint('yellow', plain([error_annotation.message, error_annotation.advice].filter(Boolean).join(' ')))}`
  return `${ref} is in ${paint('bold', status)}.${trouble}`
}

/** Returns what a person must know of the limits on a run that has just been claimed. */
function limitLines({
  limits_unenforced: unenforced = [],
  limits_checked: checked,
}: Pick<Task, 'limits_unenforced' | 'limits_checked'>): string[] {
  return [
    ...(unenforced.includes('usd') ? ['The price of this agent is unknown, so no limit on money holds this run.'] : []),
    ...(unenforced.includes('turns')
      ? ["This agent doesn't show its requests, so no limit on turns holds this run."]
      : []),
    ...(checked === 'run'
      ? ['This agent tells its figures at the end. Until then each request counts with assumed figures.']
      : []),
  ]
}
