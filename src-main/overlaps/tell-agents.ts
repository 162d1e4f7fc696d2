import type { ExecutionId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Overlap } from '../../src-shared/contract/overlaps.ts'
import type { Ground } from '../core/ground.ts'
import { toSettings, toTask } from '../core/views.ts'
import { enqueueExecution } from '../executions/enqueue-execution.ts'
import { emitMessageUpdated, isMessage } from '../executions/messages.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Tells agents at work of conflicts with other tasks: each agent once of each other task. */
export interface OverlapMessages {
  /** Pairs of these tasks that are found next are taken for told: the last start may have done so. */
  seed(tasks: readonly TaskId[]): void
  tell(project_id: ProjectId): void
  tellAll(): void
}

const maxFiles = 10

export function createOverlapMessages(context: Ground): OverlapMessages {
  const { read } = context.store
  const told = new Set<string>()
  let seeded: ReadonlySet<TaskId> = new Set()
  const seenAtStart = new Set<ProjectId>()

  const tell = (project_id: ProjectId): void => {
    const items = read.overlaps.ofProject(project_id).filter(({ kind }) => kind === 'conflict')
    if (!seenAtStart.has(project_id)) {
      seenAtStart.add(project_id)
      for (const { a, b } of items) {
        if (seeded.has(a) && seeded.has(b)) for (const pair of [keyOf(a, b), keyOf(b, a)]) told.add(pair)
      }
    }
    const project = read.projects.get(project_id)
    if (!project || !toSettings(project).tell_agents_of_overlaps) return
    for (const item of items) {
      for (const [to, other] of [
        [item.a, item.b],
        [item.b, item.a],
      ] as const) {
        if (!told.has(keyOf(to, other)) && send(context, to, other, item)) told.add(keyOf(to, other))
      }
    }
  }
  return {
    seed: (tasks) => void (seeded = new Set(tasks)),
    tell,
    tellAll: () => {
      for (const project of read.projects.list()) {
        if (seenAtStart.has(project.id) && read.overlaps.ofProject(project.id).length > 0) tell(project.id)
      }
    },
  }
}

const keyOf = (to: TaskId, other: TaskId): string => `${to} ${other}`

/** Queues a message behind the run of the agent that works on a task; false while none does. */
function send(context: Ground, to: TaskId, other: TaskId, overlap: Overlap): boolean {
  return context.feed.commit((tx) => {
    const [task, theirs] = [tx.tasks.get(to), tx.tasks.get(other)]
    if (!task || !theirs) return true
    const run = tx.executions.openOfTask(to).find((one) => isCodersRun(task, one))
    const assignee = run && task.roles[run.role]
    if (!run || !assignee) return false
    const text = messageText(toTask(tx, theirs).ref, theirs.title, overlap.files)
    const execution = enqueueExecution(context, tx, {
      id: context.newId() as ExecutionId,
      task,
      role: run.role,
      assignee,
      overrides: { message: { text, comment_ids: [] } },
      resume: true,
      dispatched: true,
    })
    emitMessageUpdated(tx, execution)
    return true
  })
}

/** A reviewer can do nothing about a conflict. */
function isCodersRun(task: TaskRecord, run: ExecutionRecord): boolean {
  return run.status === 'running' && !isMessage(run) && run.agent_id !== null && run.id === task.active_execution_id
}

function messageText(ref: string, title: string, files: readonly string[]): string {
  const more = files.length > maxFiles ? `\n- and ${files.length - maxFiles} more` : ''
  const listed = files.slice(0, maxFiles).map((file) => `- ${file}`)
  return (
    `Another unfinished task, ${ref} (“${title}”), changes the same lines as you, so that only one of both can be merged ` +
    `without a conflict:\n\n${listed.join('\n')}${more}\n\nKeep your change to these files as small as your task allows. ` +
    'Its work is not in your worktree; do not try to include it. If your task is done, finish as usual.'
  )
}
