import { notify } from '../core/notify.ts'
import { isRefusal } from '../domain/refusal.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { writingConnectionOf } from './connection.ts'
import { openAgain } from './open-at-gate.ts'
import { openPull } from './open-pull.ts'
import { savePull } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isGivenUp, isOpenAt } from './rules/pull-states.ts'
import { isTransient } from './rules/transient.ts'
import { sendPending } from './send-intents.ts'
import { hasBase, isStackWait, planRetarget, targetOf } from './stacked-pull.ts'

/**
 * Lets the pull request of a stacked task follow its stack: opens what waited for the task below, pushes a branch that was
 * brought along, and points the pull request at what the branch lies on now. Returns whether the forge has it all; while
 * it hasn't, what the forge says of conflicts and checks is of a state that passes.
 */
export async function followStack(
  deps: PullRequestDeps,
  task_id: TaskRecord['id'],
  signal: AbortSignal,
): Promise<boolean> {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  const connection = task && writingConnectionOf(read, task)
  if (!task || connection === null || isRefusal(connection)) return true
  const waiting = () => read.forge_intents.pending(task_id).find(({ intent }) => intent.kind === 'open')
  const wish = waiting()
  if (wish?.intent.kind === 'open') await openAgain(deps, task_id, wish.intent, wish.triggered_by, signal)
  const found = targetOf(deps, read, task, connection)
  const record = read.pull_requests.of(task_id)
  // A branch that was never in a stack has nothing to follow.
  if (!found || !record || !isOpenAt(record) || (found.lower === null && found.workspace.stack === null)) return true
  const isOver = isGivenUp(deps.transitions.workflowOf(read, task), task)
  const isPushed = isOver || (!waiting() && (await pushBrought(deps, record, found.workspace, signal)))
  const isSent = !planRetarget(deps, record, connection) || (await send(deps, connection, task_id, signal))
  return found.in_place && isPushed && isSent
}

/**
 * Points the pull requests that go to the branch of a merged one elsewhere. That comes before its branch may go: a forge
 * closes what goes to a branch that is deleted.
 */
export async function retargetAbove(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  { task_id, project_id, branch }: PullRequestRecord,
  signal: AbortSignal,
): Promise<void> {
  const { read } = deps.context.store
  for (const id of read.tasks.stacked()) {
    const upper = read.pull_requests.of(id)
    if (id === task_id || upper?.project_id !== project_id || upper.target !== branch) continue
    if (planRetarget(deps, upper, connection)) await send(deps, connection, id, signal)
  }
}

/** What the forge doesn't take now stays written down. */
async function send(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  task_id: TaskRecord['id'],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await sendPending(deps, connection, task_id, signal)
    return true
  } catch (error) {
    if (signal.aborted || !(error instanceof ForgeError)) throw error
    deps.context.log.info({ err: error, task_id }, 'a pull request could not be pointed at another branch yet')
    return false
  }
}

/**
 * Pushes a branch that Copse itself has brought along since its last push, if a review holds for it. Returns whether what
 * is there lies where it should.
 */
async function pushBrought(
  deps: PullRequestDeps,
  record: PullRequestRecord,
  workspace: WorkspaceRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { context } = deps
  const { task_id, pushed } = record
  const { stack, repo_path, branch } = workspace
  if (stack === null || pushed === null) return true
  try {
    const tip = await context.target.tip(repo_path, branch, { signal })
    if (tip === null || tip === pushed) return true
    // A run that goes on brings it back to the gate.
    const isFree = context.store.read.executions.openOfTask(task_id).length === 0
    if (isFree && (await push(deps, record, workspace, signal))) return true
    return await hasBase(deps, workspace, pushed, signal)
  } catch (error) {
    // The repository is away: nothing can be pushed.
    if (signal.aborted || !(error instanceof WorkspaceError)) throw error
    return false
  }
}

async function push(
  deps: PullRequestDeps,
  record: PullRequestRecord,
  workspace: WorkspaceRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const wish = { draft: null, title: null, body: null }
  const opened = await openPull(deps, record.task_id, wish, 'system', signal)
  if (!isRefusal(opened)) return true
  const waits = ['review_not_ready', 'nothing_to_push'].includes(opened.code)
  if (!isTransient(opened) && !isStackWait(opened) && !waits) tell(deps, record, workspace, opened.message)
  return false
}

/** Tells people once for each commit that the branch lies on. */
function tell(
  deps: PullRequestDeps,
  { task_id, number }: PullRequestRecord,
  { base_commit }: WorkspaceRecord,
  message: string,
): void {
  const { context } = deps
  const mark = `stack:${base_commit ?? ''}`
  context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    const current = tx.pull_requests.of(task_id)
    if (!task || current?.number !== number || current.given.includes(mark)) return
    savePull(deps, tx, { ...current, given: [...current.given, mark] })
    notify(context, tx, task, { event_type: 'pull_request.needs_you', body: `#${number}: ${message}` })
  })
}
