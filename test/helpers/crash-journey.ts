import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../../src-shared/client/create-client.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { AgentId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from './git-repository.ts'
import type { RunningApp } from './running-app.ts'
import { processesIn } from './processes-in.ts'

/** A task on its way from the queue to done, with a rejection by CI, in a data folder of its own. */
export interface Journey extends AsyncDisposable {
  readonly dataDir: string
  readonly repository: TestRepository
}

/** The service of the journey, in this process or in one of its own. */
type Vehicle = Pick<RunningApp, 'client' | 'eventually'>

export interface Travelling {
  readonly task_id: TaskId
  readonly agent_id: AgentId
  readonly project_id: ProjectId
}

/** What must be equal with and without a crash. */
export interface Arrival {
  readonly audit: readonly string[]
  readonly reviews: readonly string[]
  readonly succeeded: number
  readonly workspace: string
  readonly annotation: string | null
  readonly barrier: boolean
  readonly worktree: 'gone' | 'there'
  readonly merges: readonly string[]
  readonly work: string
  readonly notified: readonly string[]
  readonly processes: readonly string[]
}

// The agent improves its work once CI has printed this.
const coder =
  'if grep -q NEEDS-A-FIX "$SVC_PROMPT_FILE"; then echo fixed > work.txt; else echo draft > work.txt; fi; echo done'
const ci = 'grep -q fixed work.txt || { echo NEEDS-A-FIX; exit 1; }'

export async function createJourney(): Promise<Journey> {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-crash-'))
  const repository = await createTestRepository()
  return {
    dataDir,
    repository,
    [Symbol.asyncDispose]: async () => {
      await repository[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The project, the agent and the task; nothing has moved yet. */
export async function pack({ client }: Vehicle, { repository }: Journey): Promise<Travelling> {
  const project = await client.call('projects.create', { name: 'Crash', repo_path: repository.path })
  const lifecycle_hooks = {
    before_work: [{ type: 'script' as const, command: 'echo ready', blocking: true }],
    on_task_done: [{ type: 'script' as const, command: 'cat work.txt' }],
  }
  await client.call('projects.update_settings', { project_id: project.id, lifecycle_hooks })
  const agent = await client.call('agents.create', { name: 'Coder', executor: 'command', config: { command: coder } })
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Survive',
    review_config: { ci_steps: [ci] },
  })
  return { task_id: task.id, agent_id: agent.id, project_id: project.id }
}

/** How often a client may be overtaken in one state; more often means a permanent refusal. */
const patience = 200

/** Does what a client has to do in any state, until the task is done and cleaned up. */
export async function travel(app: Vehicle, { task_id, agent_id }: Travelling): Promise<void> {
  const { client } = app
  const refused = new Map<number, number>()
  for (;;) {
    const { task, cleaned } = await app.eventually(
      () => look(client, task_id),
      ({ task, cleaned }) => cleaned || nextFor(task) !== null,
    )
    if (cleaned) return
    const next = nextFor(task)
    try {
      if (next === 'claim') await client.call('tasks.claim', { task_id, agent_id })
      else if (next === 'retry') await client.call('tasks.recover', { task_id, action: 'retry_execution' })
      else if (next === 'merge')
        await client.call('tasks.transition', { task_id, status: 'merging', version: task.version })
    } catch (error) {
      // After a crash the service may overtake the client, or a write may fail, so it looks again.
      if (!(error instanceof ApiError) || (error.status !== 409 && !isFailedWrite(error))) throw error
      const times = (refused.get(task.version) ?? 0) + 1
      refused.set(task.version, times)
      if (times >= patience) throw error
    }
  }
}

const isFailedWrite = ({ code, message }: ApiError) => code === 'internal_error' && /nothing was changed/i.test(message)

async function look(client: Client, task_id: TaskId): Promise<{ readonly task: Task; readonly cleaned: boolean }> {
  const task = await client.call('tasks.get', { task_id })
  if (task.status !== 'done') return { task, cleaned: false }
  return { task, cleaned: (await client.call('tasks.workspace', { task_id })).status === 'cleaned' }
}

/** The action that the task waits for; null while it continues automatically. */
function nextFor(task: Task): 'claim' | 'retry' | 'merge' | 'stuck' | null {
  if (task.error_annotation?.recovery_actions.includes('retry_execution')) return 'retry'
  if (task.error_annotation) throw new Error(`The task needs help: ${JSON.stringify(task.error_annotation)}`)
  if (task.status === 'todo' || task.status === 'backlog') return 'claim'
  if (task.status === 'review' && !task.entry_barrier && task.review_passed_at !== null) return 'merge'
  return null
}

/** Everything that must be as if nothing had happened. */
export async function arrival(app: Vehicle, journey: Journey, { task_id, project_id }: Travelling): Promise<Arrival> {
  const { client } = app
  const task = await client.call('tasks.get', { task_id })
  const { items: audit } = await client.call('tasks.transitions', { task_id })
  const { items: reviews } = await client.call('tasks.reviews', { task_id })
  const { items: executions } = await client.call('tasks.executions', { task_id })
  const workspace = await client.call('tasks.workspace', { task_id })
  const { items: notifications } = await client.call('notifications.list', { project_id, limit: 200 })
  const { repository } = journey
  return {
    audit: audit.map(
      (one) =>
        `${one.from_state} > ${one.to_state} by ${one.triggered_by.split(':')[0] ?? ''}${one.rejection ? ', rejected' : ''}: ` +
        // The project's own hooks run beside those of the states.
        one.hooks
          .map(({ phase, action, outcome }) => `${phase} ${action} ${outcome}`)
          .sort()
          .join(', '),
    ),
    reviews: reviews.map(
      (one) => `${one.attempt_number} ${one.status} ${one.step_results.map((step) => step.exit_code).join()}`,
    ),
    succeeded: executions.filter((one) => one.status === 'succeeded').length,
    workspace: workspace.status,
    annotation: task.error_annotation?.type ?? null,
    barrier: task.entry_barrier,
    worktree: await access(workspace.path).then(
      () => 'there' as const,
      () => 'gone' as const,
    ),
    merges: (await repository.git(['log', '--merges', '--format=%P', 'main']))
      .split('\n')
      .map((line) => `${line.split(' ').length} parents`),
    work: await repository.git(['show', 'main:work.txt']),
    notified: notifications.map((one) => one.event_type).sort(),
    processes: processesIn([journey.dataDir, repository.path]).map(({ command }) => command),
  }
}
