import type { Command } from 'commander'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { allTasks, findAgent, findProject, findTask, runnerOf } from '../find.ts'
import { plain } from '../output.ts'
import { shortId } from '../pick.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'
import { formatFields, formatTable } from '../table.ts'
import { queuePositions, formatQueuePosition, type QueuePosition } from '../queue-position.ts'

interface ListOptions extends CommonOptions {
  readonly project?: string
  readonly status?: string
  readonly search?: string
  readonly label?: string
  readonly agent?: string
  readonly archived?: boolean
}

/** Adds `svc task list` and `svc task show`. */
export function addTaskViews(task: Command): void {
  addClientCommand(task, {
    usage: 'list',
    summary: 'list a project’s tasks',
    examples: ['svc task list', 'svc task list --project Shop --status review', 'svc task list --search login --json'],
  })
    .option('--project <project>', 'id or name; by default that of the folder you are in')
    .option('--status <state>', 'only those in this state')
    .option('--search <words>', 'only those with these words')
    .option('--label <label>', 'only those with this label')
    .option('--agent <agent>', 'only those of this agent')
    .option('--archived', 'those in the archive too')
    .action((options: ListOptions) => runCommand(options, (scene) => list(scene, options)))
  addClientCommand(task, {
    usage: 'show <task>',
    summary: 'show a task: its state, problems and possible moves',
    examples: ['svc task show SHO-42', 'svc task show SHO-42 --json | jq .status'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => show(scene, ref)))
}

async function list(scene: CommandContext, options: ListOptions): Promise<void> {
  const { status, search, label, agent } = options
  const project = await findProject(scene, options.project)
  const items = await allTasks(scene, project.id, options.archived === true, {
    ...(status !== undefined && { status }),
    ...(search !== undefined && { q: search }),
    ...(label !== undefined && { label }),
    ...(agent !== undefined && { assignee: (await findAgent(scene, agent)).id }),
  })
  const agents = scene.out.json ? [] : (await scene.client.call('agents.list', {})).items
  const turns = scene.out.json ? [] : await queuePositions(scene, project.id)
  const rows = items.map((task) => [
    task.ref,
    task.archived ? `${task.status} (archived)` : task.status,
    workersOf(task, agents),
    noteOf(task, turns),
    task.title,
  ])
  await scene.out.answer({ items }, () =>
    rows.length === 0
      ? `${project.name} has no such task.`
      : formatTable(['TASK', 'STATE', 'WHO', 'NOTE', 'TITLE'], rows),
  )
}

function workersOf({ roles }: Task, agents: readonly Agent[]): string {
  const agentName = (id: string) => agents.find((agent) => agent.id === id)?.name
  const names = Object.values(roles).map(
    ({ type, id }) => agentName(id) ?? (type === 'user' ? 'a person' : shortId(id)),
  )
  return [...new Set(names)].join(', ')
}

function noteOf(task: Task, turns: readonly QueuePosition[]): string {
  const { error_annotation, active_execution_id, base_conflict, review_passed_at, review_summary } = task
  if (error_annotation !== null) return error_annotation.type.replaceAll('_', ' ')
  const turn = turns.find(({ execution_id }) => execution_id === active_execution_id)
  if (turn) return `waits: ${formatQueuePosition(turn)}`
  if (active_execution_id !== null) return 'running'
  if (base_conflict !== null) return 'conflicts with its base'
  if (review_summary?.empty) return 'no changes'
  if (review_passed_at !== null) return 'passed'
  return review_summary?.status === 'running' ? 'checks run' : ''
}

async function show(scene: CommandContext, ref: string): Promise<void> {
  const { client, out } = scene
  const task = await findTask(scene, ref)
  if (out.json) return out.answer(task, () => '')
  const task_id = task.id
  const [agents, turns, moves, waits, workspace, lower] = await Promise.all([
    client.call('agents.list', {}),
    queuePositions(scene, task.project_id),
    client.call('tasks.moves', { task_id }),
    client.call('tasks.dependencies', { task_id }),
    workspaceOf(scene, task_id),
    task.stacked_on === null ? null : client.call('tasks.get', { task_id: task.stacked_on }),
  ])
  const runner = workspace === null ? null : await runnerOf(scene, workspace.runner_id)
  const open = moves.items.filter(({ allowed }) => allowed).map(({ to }) => to)
  const fields = formatFields([
    ['task', task.ref],
    ['id', task.id],
    ['title', task.title],
    ['state', task.status],
    ['who', workersOf(task, agents.items)],
    ['note', noteOf(task, turns)],
    ['trouble', task.error_annotation?.message ?? null],
    ['conflicts in', task.base_conflict?.files.map(plain).join(', ') ?? null],
    ['what to do', task.error_annotation?.advice ?? null],
    ['recovery', task.error_annotation?.recovery_actions.join(', ') ?? null],
    [
      'depends on',
      waits.items.flatMap(({ id, title, satisfied }) => (satisfied ? [] : [`${shortId(id)} ${title}`])).join(', '),
    ],
    ['on top of', lower && `${lower.ref} ${plain(lower.title)}`],
    ['labels', task.labels.join(', ')],
    ['checks', task.review_config.ci_steps.join('; ')],
    ['runs on', runner && plain(runner.name)],
    ['branch', workspace?.branch ?? null],
    ['worktree', workspace === null || workspace.status === 'cleaned' ? null : workspace.path],
    ['issue', task.external_issue_url],
    ['can move to', open.join(', ')],
  ])
  await out.answer(task, () => (task.description ? `${fields}\n\n${plain(task.description)}` : fields))
}

/** Returns null before the first claim. */
async function workspaceOf({ client }: CommandContext, task_id: string): Promise<Workspace | null> {
  try {
    return await client.call('tasks.workspace', { task_id })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  }
}
