import type { Command } from 'commander'
import type { LandingLane, LandingPlace } from '../../../src-shared/contract/landing.ts'
import type { Project } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { addClientCommand, addGroup, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findProject, findTask } from '../find.ts'
import { paint, plain } from '../output.ts'
import { formatTable } from '../table.ts'

interface CheckOptions extends CommonOptions {
  readonly branch?: string
}

/** Adds `svc landing list`, `check` and `remove`. */
export function addLanding(program: Command): void {
  const landing = addGroup(program, 'landing', 'see what lands on the base branch, and whether it is green')
  addClientCommand(landing, {
    usage: 'list [project]',
    summary: 'show the base branches and the tasks that wait to land (default: the folder’s project)',
    examples: ['svc landing list', "svc landing list --json | jq '.items[].health'"],
  }).action((text: string | undefined, options: CommonOptions) => runCommand(options, (scene) => list(scene, text)))
  addClientCommand(landing, {
    usage: 'check [project]',
    summary: 'run the landing steps on the tip of the base branch',
    examples: ['svc landing check', 'svc landing check Shop --branch release'],
  })
    .option('--branch <branch>', 'another branch than the default one')
    .action((text: string | undefined, options: CheckOptions) =>
      runCommand(options, (scene) => check(scene, text, options)),
    )
  addClientCommand(landing, {
    usage: 'remove <task>',
    summary: 'take a task out of the lane, back to its gate; it stays approved',
    examples: ['svc landing remove SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => remove(scene, ref)))
}

async function list(scene: CommandContext, text: string | undefined): Promise<void> {
  const { client, out } = scene
  const project = await findProject(scene, text)
  const lanes = await client.call('landing.list', { project_id: project.id })
  const ids = [...new Set(lanes.items.flatMap(({ tasks }) => tasks.map(({ task_id }) => task_id)))]
  const tasks = out.json ? [] : await Promise.all(ids.map((task_id) => client.call('tasks.get', { task_id })))
  await out.answer(lanes, () => lanes.items.map((lane) => laneText(project, lane, tasks)).join('\n\n'))
}

async function check(scene: CommandContext, text: string | undefined, { branch }: CheckOptions): Promise<void> {
  const { client, out } = scene
  const project = await findProject(scene, text)
  const answer = await client.call('landing.check', { project_id: project.id, ...(branch !== undefined && { branch }) })
  await out.answer(answer, () => `Checking ${plain(answer.lane.branch)}. See how it goes with: svc landing list`)
}

async function remove(scene: CommandContext, ref: string): Promise<void> {
  const { client, out } = scene
  const { id: task_id, project_id } = await findTask(scene, ref)
  await out.withProgress('Taking it out …', client.call('landing.remove', { project_id, task_id }))
  const task = await client.call('tasks.get', { task_id })
  await out.answer({ task }, () => `${task.ref} is back in ${paint('bold', task.status)}.`)
}

function laneText({ repos }: Project, lane: LandingLane, tasks: readonly Task[]): string {
  const { repo_id, branch, commit, health, checking, failure } = lane
  const repo = repos.length > 1 ? `${plain(repos.find(({ id }) => id === repo_id)?.name ?? '')} ` : ''
  const colour = { green: 'green', red: 'red', unknown: 'dim' } as const
  const known = { green: 'green', red: 'red', unknown: 'not tested' } as const
  const state = checking ? 'being checked' : paint(colour[health], known[health])
  const lines = [`${repo}${paint('bold', plain(branch))} ${commit?.slice(0, 12) ?? 'is not there'}: ${state}`]
  if (failure) {
    const since = failure.last_green === null ? '' : `; last green: ${failure.last_green.slice(0, 12)}`
    lines.push(`\`${plain(failure.step)}\` fails with exit code ${failure.exit_code}${since}`)
  }
  if (lane.tasks.length === 0) return [...lines, 'No task waits to land.'].join('\n')
  const findById = (id: string) => tasks.find((task) => task.id === id)
  const rows = lane.tasks.map((place) => [
    String(place.position),
    findById(place.task_id)?.ref ?? place.task_id,
    placeText(place, (id) => findById(id)?.ref ?? id),
    plain(findById(place.task_id)?.title ?? ''),
  ])
  return [...lines, formatTable(['#', 'TASK', 'STATE', 'TITLE'], rows)].join('\n')
}

function placeText({ state, with: others }: LandingPlace, refOf: (id: string) => string): string {
  return state === 'testing' && others.length > 0 ? `testing with ${others.map(refOf).join(', ')}` : state
}
