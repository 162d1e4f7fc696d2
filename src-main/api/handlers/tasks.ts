import { isPullRequestRecovery } from '../../../src-shared/contract/action-names.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { OperationRequest } from '../../../src-shared/contract/operations.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { Assignee, Task } from '../../../src-shared/contract/tasks.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { placeBeside } from '../../tasks/rules/place-task.ts'
import type { Actor, Outcome } from '../../tasks/action-services.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { TaskRecord } from '../../ports/task-queries.ts'
import { canWorkIn, checkAssignee, requireAgentInProject } from '../assignee.ts'
import { checkOwner } from '../project-visibility.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { unwrap, findProject, findTask, throwNotFound } from '../find.ts'
import { defined, newTask, withDefaults } from '../new-task.ts'
import { newTasks } from '../new-tasks.ts'
import { noteConfigChange } from '../note-config-change.ts'
import { checkOrderedParent, checkSetByPerson, checkStartOf, humansOnly } from '../run-task.ts'
import { checkStackedOn } from '../stack-input.ts'
import { givenTaskFields } from '../task-fields.ts'
import { unarchive } from '../unarchive.ts'
import { workspaceView } from '../workspace-view.ts'

type Names =
  | 'tasks.create'
  | 'tasks.create_many'
  | 'tasks.update'
  | 'tasks.delete'
  | 'tasks.claim'
  | 'tasks.start_when_ready'
  | 'tasks.cancel_start'
  | 'tasks.transition'
  | 'tasks.verdict'
  | 'tasks.unmerge'
  | 'tasks.revert'
  | 'tasks.cancel'
  | 'tasks.archive'
  | 'tasks.unarchive'
  | 'tasks.assign_role'
  | 'tasks.recover'
  | 'tasks.reset_workspace'
  | 'tasks.moves'

export function createTaskHandlers(parts: ApiParts): Handlers<Names> {
  const { store, engine } = parts
  const { read } = store
  const { views, actions, claims } = engine
  const projectOf = ({ project_id }: TaskRecord) => findProject(read, project_id)
  const taskOf = ({ task }: { task: TaskRecord }): { task: Task } => ({ task: views.task(task) })
  return {
    'tasks.create': (input, { principal }) => {
      checkSetByPerson(principal, input)
      checkOrderedParent(read, principal, input)
      const { project_id, ...fields } = input
      const project = findProject(read, project_id)
      return views.task(newTask(parts, project, withDefaults(parts, principal, project, fields)))
    },
    'tasks.create_many': ({ project_id, items }, { principal }) => ({
      items: newTasks(parts, findProject(read, project_id), items, principal),
    }),
    'tasks.update': (input, { principal }) => {
      checkSetByPerson(principal, input)
      return views.task(updateTask(parts, input, actorOf(principal)))
    },
    'tasks.delete': async ({ task_id, close_pull_request }, { signal }) => {
      const close = () => engine.pullRequests.closeBeforeDeletion(task_id, signal)
      const refusal = await actions.remove(task_id, signal, close_pull_request === true ? close : undefined)
      engine.stacks.look()
      if (refusal) throw new ApiError(refusal)
      return null
    },
    'tasks.claim': async ({ task_id, agent_id, overrides }, { principal, signal }) => {
      checkSetByPerson(principal, { overrides })
      const task = findTask(read, task_id)
      if (overrides?.lock_policy === 'wait') checkStartOf(read, principal, task)
      const agent = agent_id === undefined ? null : requireAgentInProject(read, principal, agent_id, projectOf(task))
      const claimant = agent ? ({ type: 'agent', id: agent.id } as const) : assigneeFrom(principal)
      // The audit names the claimant, not who assigned them; an external agent uses its owner's token.
      const triggered_by = agent ? `agent:${agent.id}` : actorOf(principal)
      const isSelf =
        agent !== null &&
        (agent.daemon_id !== null || parts.places.of(task_id).runs.location(agent.executor) === 'remote')
      const by_person = principal.kind !== 'agent' && !isSelf
      const request = { task_id, claimant, triggered_by, by_person, overrides: overrides ?? {} }
      const claimed = unwrap(
        agent
          ? await engine.readyStarts.claim({ ...request, agent, by: actorOf(principal) }, signal)
          : await claims.claim(request, signal),
      )
      const shown = views.task(claimed.task)
      return {
        task: shown,
        execution: claimed.execution && views.execution(claimed.execution),
        workspace: claimed.workspace && (await workspaceView(parts, claimed.workspace, signal)),
        ...(shown.limits_unenforced && { limits_unenforced: shown.limits_unenforced }),
        ...(shown.limits_checked && { limits_checked: shown.limits_checked }),
      }
    },
    'tasks.start_when_ready': async ({ task_id, agent_id, overrides }, { principal }) => {
      checkSetByPerson(principal, { overrides })
      const task = findTask(read, task_id)
      checkStartOf(read, principal, task)
      const agent = requireAgentInProject(read, principal, agent_id, projectOf(task))
      const request = { task_id, agent, overrides: overrides ?? {}, by: actorOf(principal) }
      return { task: views.task(unwrap(await engine.readyStarts.set(request))) }
    },
    'tasks.cancel_start': ({ task_id }) => {
      unwrap(engine.readyStarts.clear(task_id))
      return null
    },
    'tasks.transition': async ({ reason = null, tree = null, ...rest }, { principal, signal }) => {
      const request = { ...rest, reason, tree }
      const outcome = unwrap(await actions.transition(request, actor(principal), signal))
      const { landing, landing_deferred } = outcome
      return { ...taskOf(outcome), ...reviewOf(outcome), ...defined({ landing, landing_deferred }) }
    },
    'tasks.verdict': async ({ task_id, verdict, feedback, comment_ids, version, tree }, { principal, signal }) => {
      const who = actor(principal)
      const request = {
        task_id,
        verdict,
        feedback: feedback ?? null,
        comment_ids: comment_ids ?? null,
        version: version ?? null,
        tree: tree ?? null,
        by: reviewerFrom(principal),
        triggered_by: who.triggered_by,
      }
      const outcome = unwrap(await actions.verdict(request, who, signal))
      return { ...taskOf(outcome), ...reviewOf(outcome) }
    },
    'tasks.unmerge': async ({ task_id }, { principal, signal }) =>
      taskOf(unwrap(await engine.mergeUndo.undo(task_id, actor(principal), signal))),
    'tasks.revert': async ({ task_id, reason = null }, { principal, signal }) =>
      views.task(unwrap(await engine.mergeUndo.revert({ task_id, reason }, actor(principal), signal))),
    'tasks.cancel': async (input, { principal }) => {
      const closing = closingOf(parts, input, principal)
      const outcome = unwrap(await actions.cancel(input.task_id, actor(principal), { beside: closing?.write }))
      if (closing) engine.pullRequests.send(input.task_id)
      return taskOf(outcome)
    },
    'tasks.archive': async (input, { principal }) => {
      const { task_id } = input
      const closing = closingOf(parts, input, principal)
      await actions.leaveLane(task_id)
      const archived = edit(parts, task_id, { archived: true }, (tx) => {
        closing?.write(tx)
        return null
      })
      if (closing) engine.pullRequests.send(task_id)
      engine.stacks.look(task_id)
      return { task: views.task(archived) }
    },
    'tasks.unarchive': ({ task_id }, { principal }) => {
      const back = unarchive(parts, task_id, principal)
      engine.stacks.look(task_id)
      return { task: views.task(back) }
    },
    'tasks.assign_role': async ({ agent_id, user_id, ...request }, { principal }) => {
      const task = findTask(read, request.task_id)
      const assignee = assigneeOf(parts, principal, task, { agent_id, user_id })
      return taskOf(unwrap(await actions.assignRole({ ...request, assignee }, actor(principal))))
    },
    'tasks.recover': async ({ task_id, action, reason, tree, to }, { principal, signal }) => {
      if (action === 'raise_limit') checkOwner(read, principal, projectOf(findTask(read, task_id)))
      if (isPullRequestRecovery(action)) {
        if (principal.kind === 'agent') throw humansOnly('Only a person may decide about a pull request.')
        unwrap(await engine.pullRequests.recover(task_id, action, actorOf(principal), signal))
        return taskOf({ task: findTask(read, task_id) })
      }
      const request = { task_id, action, reason: reason ?? null, tree: tree ?? null, to: to ?? null }
      return taskOf(unwrap(await actions.recover(request, actor(principal), signal)))
    },
    'tasks.reset_workspace': async ({ task_id }, { signal }) => {
      const reset = unwrap(await actions.resetWorkspace(task_id, signal))
      return { task: views.task(reset.task), workspace: await workspaceView(parts, reset.workspace, signal) }
    },
    'tasks.moves': ({ task_id }, { principal }) => {
      const task = findTask(read, task_id)
      return { items: [...actions.moves(task, actor(principal), suggestedAssignee(parts, task))] }
    },
  }
}

/** Returns what closes the pull request along with a task that ends, where that was asked for. */
function closingOf(
  { engine }: ApiParts,
  { task_id, close_pull_request }: OperationRequest<'tasks.cancel'>,
  principal: Principal,
): { readonly write: (tx: Tx) => void } | null {
  if (close_pull_request !== true) return null
  checkSetByPerson(principal, { close_pull_request })
  return unwrap(engine.pullRequests.closeIntent(task_id, actorOf(principal)))
}

function actor(principal: Principal): Actor {
  const { agent_id, execution_id } = principal.kind === 'agent' ? principal : { agent_id: null, execution_id: null }
  return { triggered_by: actorOf(principal), agent_id, execution_id }
}

function reviewOf(outcome: Outcome): { review?: Review } {
  return outcome.review ? { review: outcome.review } : {}
}

function reviewerFrom(principal: Principal): Assignee | { type: 'operator' } {
  if (principal.kind === 'agent') return { type: 'agent', id: principal.agent_id }
  return principal.kind === 'user' ? { type: 'user', id: principal.user_id } : { type: 'operator' }
}

function assigneeFrom(principal: Principal): Assignee {
  if (principal.kind === 'agent') return { type: 'agent', id: principal.agent_id }
  if (principal.kind === 'user') return { type: 'user', id: principal.user_id }
  throw new ApiError({
    code: 'forbidden',
    message: 'Name an agent. To take tasks yourself, register an account first (Settings, Account).',
  })
}

function assigneeOf(
  parts: ApiParts,
  principal: Principal,
  task: TaskRecord,
  { agent_id, user_id }: Pick<OperationRequest<'tasks.assign_role'>, 'agent_id' | 'user_id'>,
): Assignee {
  const wanted =
    agent_id !== undefined
      ? ({ type: 'agent', id: agent_id } as const)
      : ({ type: 'user', id: user_id ?? throwNotFound('user') } as const)
  checkAssignee(parts, principal, findProject(parts.store.read, task.project_id), wanted)
  return wanted
}

/** Returns who had a role before, else an agent that can take the task. */
function suggestedAssignee(parts: ApiParts, task: TaskRecord): Assignee | null {
  const { read } = parts.store
  const project = findProject(read, task.project_id)
  const known = Object.values(task.roles).find((one) => one.type === 'agent')
  if (known) return known
  const agent = read.agents.list().find((one) => !one.paused && canWorkIn(read, one, project))
  return agent ? { type: 'agent', id: agent.id } : null
}

type Patch = Parameters<Handlers<'tasks.update'>['tasks.update']>[0]

function updateTask(parts: ApiParts, input: Patch, by: string): TaskRecord {
  const task = findTask(parts.store.read, input.task_id)
  if (input.version !== undefined && input.version !== task.version) {
    throw new ApiError({
      code: 'version_conflict',
      message: 'The task changed since you read it. Fetch it, then make your change again.',
      details: { version: task.version },
    })
  }
  const { task_id: _id, version: _version, review_config, above, below, ...fields } = input
  checkPlace(input)
  const { repo_id } = fields
  const { leave } = parts.engine.repositories
  const patch = {
    ...givenTaskFields(fields),
    ...(review_config && { review_config: { ...task.review_config, ...defined(review_config) } }),
  }
  const edited = edit(parts, task.id, patch, (tx, current) => {
    const refusal =
      (repo_id === undefined || repo_id === current.repo_id ? null : leave(tx, current, repo_id)) ??
      parts.engine.attachments.bind(tx, current, patch.description)
    if (refusal) unwrap(refusal)
    if (patch.stacked_on !== undefined || repo_id !== undefined) checkStackedOn(tx, { ...current, ...patch })
    const placed = positionBeside(tx, current, { above, below })
    const isFreed = patch.stacked_on !== undefined && current.error_annotation?.stack === 'archived_below'
    return {
      ...placed,
      ...(isFreed && { error_annotation: null }),
      ...(patch.review_config && noteConfigChange(tx, current, { after: patch.review_config, by })),
    }
  })
  parts.engine.stacks.look()
  return edited
}

function checkPlace({ above, below, position }: Patch): void {
  if ([above, below, position].filter((one) => one !== undefined).length < 2) return
  throw new ApiError(invalidInput('above', 'Send one of position, above and below.'))
}

/** Returns the position beside another task; the tasks beyond are moved if there is no room. */
function positionBeside(
  tx: Tx,
  task: TaskRecord,
  { above, below }: Pick<Patch, 'above' | 'below'>,
): Pick<TaskRecord, 'position'> | null {
  const id = above ?? below
  if (id === undefined) return null
  const path = above === undefined ? 'below' : 'above'
  const other = tx.tasks.get(id)
  if (other?.project_id !== task.project_id || other.id === task.id) {
    throw new ApiError(invalidInput(path, 'Name another task of the same project.'))
  }
  const up = above !== undefined
  const beyond = (limit: number) => tx.tasks.beyond(other, up, limit).filter((one) => one.id !== task.id)
  const positionsOf = (tasks: readonly { readonly position: number }[]) =>
    placeBeside(
      other.position,
      tasks.map(({ position }) => position),
      up,
    )
  // Nearly always the first gap has room.
  const near = beyond(2)
  const quick = positionsOf(near.slice(0, 1))
  const ahead = quick.length === 1 ? near : beyond(Number.MAX_SAFE_INTEGER)
  const [position = other.position, ...moved] = quick.length === 1 ? quick : positionsOf(ahead)
  for (const [index, at] of moved.entries()) {
    const one = tx.tasks.get(ahead[index]?.id ?? id)
    if (one) tx.saveTask({ ...one, position: at })
  }
  return { position }
}

/** Changes fields that don't move the task; if `before` throws, nothing is changed. */
function edit(
  parts: ApiParts,
  id: TaskId,
  patch: Partial<TaskRecord>,
  before?: (tx: Tx, task: TaskRecord) => Partial<TaskRecord> | null,
): TaskRecord {
  return parts.feed.commit((tx) => {
    const task = tx.tasks.get(id) ?? throwNotFound('task')
    return tx.saveTask({ ...task, ...patch, ...before?.(tx, task), version: task.version + 1 })
  })
}
