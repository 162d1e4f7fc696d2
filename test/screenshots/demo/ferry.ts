import type { Agent, Project } from '../../../src-shared/contract/projects.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { TestRepository } from '../../helpers/git-repository.ts'
import { eventually } from '../../helpers/eventually.ts'
import type { World } from './world.ts'

/** What the making of tasks needs at every step. */
export interface Making {
  readonly world: World
  readonly project: Project
  readonly repository: TestRepository
  readonly coder: Agent
  readonly auditor: Agent
}

type Draft = Partial<OperationInput<'tasks.create'>> & { readonly title: string }

export const checks = ['npm run lint', 'npm run typecheck', 'npm test', 'npm run bench']

export const write = ({ world, project }: Making, draft: Draft): Promise<Task> =>
  world.client.call('tasks.create', { status: 'todo', project_id: project.id, ...draft })

export const until = ({ world }: Making, { id }: Task, fits: (task: Task) => boolean): Promise<Task> =>
  eventually(world.client, () => world.client.call('tasks.get', { task_id: id }), fits)

export async function claim({ world, coder }: Making, { id }: Task): Promise<string> {
  const { workspace } = await world.client.call('tasks.claim', { task_id: id, agent_id: coder.id })
  return workspace?.path ?? ''
}

/** Ready for a person at its gate: the checks have passed. */
const approved = (task: Task) => task.status === 'review' && task.review_passed_at !== null

/** From a claim to the merge. */
export async function finish(making: Making, draft: Draft): Promise<Task> {
  const task = await write(making, { ...draft, review_config: { ci_steps: ['npm test'] } })
  await claim(making, task)
  const { version } = await until(making, task, approved)
  await making.world.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  return until(making, task, ({ status }) => status === 'done')
}

/** Three attempts: the checks fail, then the auditor, then all is well and a person decides. */
export async function audited(making: Making, draft: Draft): Promise<Task> {
  const task = await write(making, { ...draft, review_config: { ci_steps: checks } })
  const { client } = making.world
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: making.auditor.id })
  await claim(making, task)
  await until(making, task, ({ review_summary }) => (review_summary?.attempt_number ?? 0) >= 2)
  return until(making, task, (now) => approved(now) && now.review_summary?.attempt_number === 3)
}

/** Sent back by the same check until nobody may send it back any more. */
export async function rejected(making: Making, draft: Draft): Promise<Task> {
  const task = await write(making, { ...draft, review_config: { ci_steps: checks } })
  await claim(making, task)
  return until(making, task, ({ error_annotation }) => error_annotation !== null)
}

/** At its gate, where one of the checks goes on and on. */
export async function inReview(making: Making, draft: Draft): Promise<Task> {
  const ci_steps = ['npm run lint', 'npm test', 'npm run e2e', 'npm run bench']
  const task = await write(making, { ...draft, review_config: { ci_steps } })
  await claim(making, task)
  return until(making, task, ({ review_summary }) => review_summary?.steps[2] === 'running')
}

/** Its merge meets a change of the same lines. */
export async function conflicting(
  making: Making,
  draft: Draft,
  files: Readonly<Record<string, string>>,
): Promise<Task> {
  const task = await write(making, { ...draft, review_config: { ci_steps: ['npm test'] } })
  await claim(making, task)
  const { version } = await until(making, task, approved)
  await making.repository.commit('Warn earlier of large chunks', files)
  await making.world.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  return until(making, task, ({ status }) => status === 'merge_failed')
}

/** With the planner, who has either said the plan or is at it. */
export async function planned(making: Making, draft: Draft, isSaid: boolean): Promise<Task> {
  const task = await write(making, draft)
  const { client } = making.world
  await client.call('tasks.assign_role', { task_id: task.id, role: 'planner', agent_id: making.coder.id })
  const { version } = await client.call('tasks.get', { task_id: task.id })
  await client.call('tasks.transition', { task_id: task.id, status: 'planning', version })
  return until(making, task, ({ active_execution_id, status }) =>
    isSaid ? status === 'planning' && active_execution_id === null : active_execution_id !== null,
  )
}
