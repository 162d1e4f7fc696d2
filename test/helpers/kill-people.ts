import type { Client } from '../../src-shared/client/create-client.ts'
import { ConnectionError } from '../../src-shared/client/http-transport.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { AgentId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { agentKinds, ciStep, type AgentKind } from './kill-agents.ts'
import type { SeededRandom } from './seeded-random.ts'

/** The knowledge of the kill test's people over all kills. */
export interface Office {
  readonly project_id: ProjectId
  readonly agents: ReadonlyMap<AgentKind, AgentId>
  readonly random: SeededRandom
  /** The task at each desk; null if the next one is still to be written. */
  readonly desks: (TaskId | null)[]
  /** Every task ever written, except those that were or may have been deleted. */
  readonly tasks: Set<TaskId>
  /** Tasks that were seen to be done. */
  readonly done: Set<TaskId>
}

type Act = (client: Client, office: Office, task: Task) => Promise<unknown>

/** Works on all desks at once until the service is gone; throws anything but a refusal or its death. */
export async function workUntilDeath(client: Client, office: Office): Promise<void> {
  const over = new AbortController()
  const news = createNews(client, over.signal)
  const atDesk = async (desk: number): Promise<void> => {
    for (let known = news.heard(); !news.ended(); known = news.heard()) {
      const task_id = office.desks[desk] ?? null
      const acted = task_id === null ? await takeNext(client, office, desk) : await goOn(client, office, desk, task_id)
      if (!acted) await news.after(known, task_id)
    }
  }
  try {
    await Promise.all(office.desks.map((_, desk) => atDesk(desk).catch(unlessDead)))
  } finally {
    over.abort()
    await news.closed
  }
}

async function takeNext(client: Client, office: Office, desk: number): Promise<boolean> {
  const { project_id } = office
  const review_config = { ci_steps: office.random.chance(0.9) ? [ciStep] : ['exit 1'] }
  const task = await client.call('tasks.create', { project_id, title: `Desk ${desk}`, review_config })
  office.tasks.add(task.id)
  office.desks[desk] = task.id
  return true
}

/** Takes one step that is possible for the task; returns false if that must wait. */
async function goOn(client: Client, office: Office, desk: number, task_id: TaskId): Promise<boolean> {
  try {
    const task = await client.call('tasks.get', { task_id })
    if (task.status === 'done') office.done.add(task_id)
    const isOver = task.status === 'done' || task.status === 'cancelled'
    if (isOver && !task.entry_barrier) office.desks[desk] = null
    const act = office.random.pick(isOver ? whenOver : actsFor(task))
    if (act === 'wait') return isOver && !task.entry_barrier
    await act(client, office, task)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // Another person was faster, or it is impossible; the next look decides. Other failures are the service's.
    if (error.status >= 500) throw error
    if (error.code === 'not_found') forget(office, desk, task_id)
    return error.code === 'not_found'
  }
  return true
}

function forget(office: Office, desk: number, task_id: TaskId): void {
  office.tasks.delete(task_id)
  if (office.desks[desk] === task_id) office.desks[desk] = null
}

const agentOf = ({ agents, random }: Office): { agent_id?: AgentId } => {
  const agent_id = agents.get(random.pick(agentKinds))
  return agent_id === undefined ? {} : { agent_id }
}

const claim: Act = (client, office, { id }) => client.call('tasks.claim', { task_id: id, ...agentOf(office) })
const cancel: Act = (client, _office, { id }) => client.call('tasks.cancel', { task_id: id })
const merge: Act = (client, _office, { id, version }) =>
  client.call('tasks.transition', { task_id: id, status: 'merging', version })
const update: Act = (client, { random }, { id }) =>
  client.call('tasks.update_branch', { task_id: id, strategy: random.pick(['merge', 'rebase']) })
const stop: Act = async (client, _office, { active_execution_id }) => {
  if (active_execution_id) await client.call('executions.stop', { execution_id: active_execution_id })
}
const reassign =
  (flags: { readonly reset_worktree?: true; readonly reset_workspace?: true }): Act =>
  (client, office, { id }) =>
    client.call('tasks.assign_role', { task_id: id, role: 'coder', ...agentOf(office), ...flags })
const recover: Act = (client, { random }, { id, error_annotation }) =>
  client.call('tasks.recover', {
    task_id: id,
    action: random.pick(error_annotation?.recovery_actions ?? []),
    reason: 'It was in the way.',
  })
const cleanUp: Act = (client, _office, { id }) => client.call('tasks.clean_up_workspace', { task_id: id })
const remove: Act = async (client, office, { id }) => {
  // If the service is killed before it answers, it is unknown whether the task still exists.
  office.tasks.delete(id)
  try {
    await client.call('tasks.delete', { task_id: id })
  } catch (error) {
    if (error instanceof ApiError) office.tasks.add(id)
    throw error
  }
}

const resets = [reassign({ reset_worktree: true }), reassign({ reset_workspace: true }), reassign({})]
const whenOver = ['wait', 'wait', 'wait', cleanUp, remove] as const
const whileAtWork = [...Array<'wait'>(50).fill('wait'), stop, cancel, update, ...resets] as const

function actsFor(task: Task): readonly (Act | 'wait')[] {
  if (task.active_execution_id !== null) return whileAtWork
  if (task.entry_barrier && task.error_annotation === null) return [...Array<'wait'>(20).fill('wait'), cancel]
  if (task.error_annotation && task.error_annotation.recovery_actions.length > 0) {
    return [recover, recover, recover, cancel, update, ...resets]
  }
  if (task.error_annotation) return [claim, cancel, ...resets]
  if (task.status === 'review' && task.review_passed_at !== null) {
    return [...Array<Act>(8).fill(merge), update, cancel, ...resets]
  }
  if (['backlog', 'todo', 'in_progress', 'merge_failed', 'blocked'].includes(task.status)) {
    return [claim, claim, claim, claim, cancel]
  }
  return ['wait', cancel]
}

/** The expected error after a kill. */
export function unlessDead(error: unknown): void {
  if (error instanceof ConnectionError) return
  // Its answer was cut off.
  if (error instanceof TypeError && error.message === 'terminated') return
  throw error
}

/** Notifies waiting callers of an event of their task, or that none will follow. */
function createNews(client: Client, signal: AbortSignal) {
  let count = 0
  let ended = false
  const last = new Map<string, number>()
  const waiting: (() => void)[] = []
  const wake = () => {
    for (const one of waiting.splice(0)) one()
  }
  const listen = async () => {
    try {
      for await (const item of client.events({}, null, signal)) {
        count += 1
        if (item.kind === 'event' && 'task_id' in item.event.data) last.set(String(item.event.data.task_id), count)
        wake()
      }
    } catch (error) {
      unlessDead(error)
    } finally {
      ended = true
      wake()
    }
  }
  return {
    closed: listen(),
    ended: () => ended,
    heard: () => count,
    after: async (known: number, task_id: TaskId | null): Promise<void> => {
      while (!ended && (last.get(task_id ?? '') ?? 0) <= known) {
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
  }
}
