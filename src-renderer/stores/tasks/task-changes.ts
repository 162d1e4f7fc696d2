import { raisedTo } from '../../../src-shared/contract/limit-names.ts'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { ErrorAnnotation, Assignee, RecoveryAction, Task } from '../../../src-shared/contract/tasks.ts'
import type { TaskState } from './task-state.ts'

/** Creates the user's operations on tasks. Each stores the replied task in the state. */
export function createTaskChanges(client: Client, state: TaskState, { fetch, seenTree, onClaimed }: ChangeBasis) {
  async function answered<T extends { readonly task: Task }>(call: Promise<T>): Promise<T> {
    const reply = await call
    state.put(reply.task)
    return reply
  }
  async function accepted(call: Promise<Task>): Promise<Task> {
    const task = await call
    state.put(task)
    return task
  }
  /** Changes of the order are sent one after the other, because each refers to the previous one. */
  let lastPlaced: Promise<unknown> = Promise.resolve()
  /** Returns the version that a change is based on. Fetches the task if it is unknown. */
  const versionOf = async (taskId: string) => (state.byId.get(taskId) ?? (await fetch(taskId))).version

  return {
    create: (input: OperationInput<'tasks.create'>) => accepted(client.call('tasks.create', input)),
    createMany: async (input: OperationInput<'tasks.create_many'>): Promise<readonly Task[]> => {
      const { items } = await client.call('tasks.create_many', input)
      for (const task of items) state.put(task)
      return items
    },
    update: (input: OperationInput<'tasks.update'>) => accepted(client.call('tasks.update', input)),
    /** Puts the task directly above or below another one. `position` is shown until the service has replied. */
    place: (taskId: string, { position, ...beside }: TaskPlacement): Promise<unknown> =>
      state.placing(taskId, position, () => {
        const placed = lastPlaced.then(() => accepted(client.call('tasks.update', { task_id: taskId, ...beside })))
        lastPlaced = placed.catch(() => undefined)
        return placed
      }),
    /** Claims the task for an agent; without one, for the current user. */
    claim: (taskId: string, agentId?: string, overrides?: OperationInput<'tasks.claim'>['overrides']) => {
      if (agentId !== undefined) onClaimed(agentId)
      return answered(client.call('tasks.claim', { task_id: taskId, ...named({ agent_id: agentId, overrides }) }))
    },
    /** Lets an agent start the task once all its dependencies are finished. */
    startWhenReady: (
      taskId: string,
      agentId: string,
      overrides?: OperationInput<'tasks.start_when_ready'>['overrides'],
    ) =>
      answered(client.call('tasks.start_when_ready', { task_id: taskId, agent_id: agentId, ...named({ overrides }) })),
    cancelStart: async (taskId: string): Promise<void> => {
      await client.call('tasks.cancel_start', { task_id: taskId })
      await fetch(taskId)
    },
    transition: async (taskId: string, status: string, reason?: string) => {
      const version = await versionOf(taskId)
      return answered(client.call('tasks.transition', { task_id: taskId, status, version, ...named({ reason }) }))
    },
    /** Merges the task. The request contains the tree that the user has seen. */
    merge: async (taskId: string, status: string, onRed = false) => {
      const version = await versionOf(taskId)
      const tree = seenTree(taskId)
      // The landing lane reports how the merge's test ends.
      const request = { task_id: taskId, status, version, on_red: onRed, respond_async: true, ...named({ tree }) }
      return answered(ofTask(taskId, client.call('tasks.transition', request)))
    },
    verdict: async (
      taskId: string,
      given: Pick<OperationInput<'tasks.verdict'>, 'verdict' | 'feedback' | 'comment_ids'>,
    ) => {
      const version = await versionOf(taskId)
      const tree = given.verdict === 'pass' ? seenTree(taskId) : undefined
      const judged = { task_id: taskId, ...given, version, ...named({ tree }) }
      return answered(ofTask(taskId, client.call('tasks.verdict', judged)))
    },
    /** Undoes the merge of the task. */
    unmerge: (taskId: string) => answered(client.call('tasks.unmerge', { task_id: taskId })),
    /** Creates a task that reverts the merge of another. */
    revert: (taskId: string) => accepted(client.call('tasks.revert', { task_id: taskId })),
    cancel: (taskId: string, closesPullRequest = false) =>
      answered(client.call('tasks.cancel', ending(taskId, closesPullRequest))),
    giveRole: (taskId: string, role: string, to: RoleHolder) =>
      answered(client.call('tasks.assign_role', { task_id: taskId, role, ...holder(to) })),
    /** Starts the work over: removes worktree and branch after saving rescues of them. Pass the current holder as `to`. */
    startOver: (taskId: string, role: string, to: RoleHolder) =>
      answered(client.call('tasks.assign_role', { task_id: taskId, role, reset_workspace: true, ...holder(to) })),
    /** Creates a new worktree if it and its branch are gone. */
    resetWorkspace: (taskId: string) => answered(client.call('tasks.reset_workspace', { task_id: taskId })),
    addDependency: async (taskId: string, on: string): Promise<void> => {
      await client.call('tasks.add_dependency', { task_id: taskId, depends_on_id: on })
      await fetch(taskId)
    },
    removeDependency: async (taskId: string, on: string): Promise<void> => {
      await client.call('tasks.remove_dependency', { task_id: taskId, depends_on_id: on })
      await fetch(taskId)
    },
    archive: (taskId: string, closesPullRequest = false) =>
      answered(client.call('tasks.archive', ending(taskId, closesPullRequest))),
    unarchive: (taskId: string) => answered(client.call('tasks.unarchive', { task_id: taskId })),
    recover: (taskId: string, action: RecoveryAction, reason?: string) => {
      const tree = action === 'retry_merge' ? seenTree(taskId) : undefined
      const to = action === 'raise_limit' ? raisedAmount(state.byId.get(taskId)?.error_annotation) : undefined
      const request = { task_id: taskId, action, ...named({ reason, tree, to }) }
      return answered(ofTask(taskId, client.call('tasks.recover', request)))
    },
    raiseLimit: (taskId: string, to: number) =>
      answered(client.call('tasks.recover', { task_id: taskId, action: 'raise_limit', to })),
    delete: async (taskId: string): Promise<void> => {
      await client.call('tasks.delete', { task_id: taskId })
      state.remove(taskId)
    },
  }
}

const ending = (task_id: string, closesPullRequest: boolean) => ({
  task_id,
  ...(closesPullRequest && { close_pull_request: true }),
})

/** The task's new position relative to another task. */
export type TaskPlacement = { readonly position: number } & ({ readonly above: string } | { readonly below: string })

interface ChangeBasis {
  readonly fetch: (taskId: string) => Promise<Task>
  /** Returns the tree of a task's work as the user last saw it. */
  readonly seenTree: (taskId: string) => string | undefined
  /** Called with the agent that gets work. */
  readonly onClaimed: (agentId: string) => void
}

/** Adds the task's ID to a refusal about changed files, so a toast can link to them. */
async function ofTask<T>(taskId: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof ApiError) || !Array.isArray(error.details?.['files'])) throw error
    const { code, message, details } = error
    throw new ApiError({ code, message, details: { ...details, task_id: taskId } }, { cause: error })
  }
}

/** Returns a role's new holder in the contract's form. */
const holder = (to: RoleHolder) => (to.type === 'agent' ? { agent_id: to.id } : { user_id: to.id })

/** An agent or a user, by an ID that may come from a field of the page. */
interface RoleHolder {
  readonly type: Assignee['type']
  readonly id: string
}

type Named<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Returns `values` without undefined ones, because the contract accepts only absent keys. */
/** Returns the new limit if the user raises the one that a task has reached. */
function raisedAmount(annotation: ErrorAnnotation | null | undefined): number | undefined {
  const { allowed, spent } = annotation ?? {}
  return allowed === undefined ? undefined : raisedTo(allowed, spent ?? allowed)
}

function named<T extends Record<string, unknown>>(values: T): Named<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Named<T>
}
