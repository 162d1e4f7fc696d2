import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { SyncCounts } from '../../src-shared/contract/integrations.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { filesOf, issueAddress, knownIds, type Base, type Repository } from './rules/issue-address.ts'
import { matchesFilter } from './rules/issue-filter.ts'
import { taskTextOf } from './rules/issue-text.ts'
import { readIssue, type ClosedIssue, type ExternalIssue } from './rules/read-issue.ts'
import { createTask } from '../tasks/rules/create-task.ts'
import { startState } from '../domain/workflow/graph.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { TrackerError, type IntegrationRecord } from '../ports/issue-trackers.ts'
import { coderRole } from '../tasks/roles.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toImportedTask, toSettings } from '../core/views.ts'

/** Number of issues written at once: few enough to let other requests in between. */
const chunkSize = 100

export type ImportDeps = Pick<Ground, 'store' | 'feed' | 'newId' | 'workflows' | 'log'> & {
  /** The issue of a task was closed at the tracker. May be called again for the same. */
  readonly onClosed: (task_id: TaskId, issue: ClosedIssue) => void
}

/** The source of imported issues. */
export interface ImportSource {
  readonly record: IntegrationRecord
  readonly base: Base
}

/**
 * Creates tasks for a page's issues that match and are not linked yet, in small transactions. Issues that can't be
 * read or written count as errors and don't stop the others; those that are closed are told where tasks follow them.
 * Returns `null` if `goesOn` ends it early.
 */
export async function importPage(
  deps: ImportDeps,
  source: ImportSource,
  items: readonly unknown[],
  goesOn: () => boolean,
): Promise<SyncCounts | null> {
  const counts = { imported: 0, skipped: 0, errors: 0 }
  const wanted: ExternalIssue[] = []
  for (const item of items) {
    const read = readIssue(item)
    if (read.kind === 'broken') counts.errors++
    if (read.kind === 'closed' && source.record.write_back.follow) tellClosed(deps, source, read.issue)
    if (read.kind === 'issue' && matchesFilter(source.record.sync_filter, read.issue)) wanted.push(read.issue)
  }
  for (let from = 0; from < wanted.length; from += chunkSize) {
    if (!goesOn()) return null
    const done = importChunk(deps, source, wanted.slice(from, from + chunkSize))
    counts.imported += done.imported
    counts.skipped += done.skipped
    counts.errors += done.errors
    await new Promise((resolve) => setImmediate(resolve))
  }
  return counts
}

function tellClosed(deps: ImportDeps, { record, base }: ImportSource, issue: ClosedIssue): void {
  const { external_links } = deps.store.read
  for (const id of knownIds(base, [record, ...record.former_names], issue.number)) {
    const link = external_links.get(id)
    if (link !== null && link.project_id === record.project_id && link.task_id !== null) {
      deps.onClosed(link.task_id, issue)
      return
    }
  }
}

function importChunk(deps: ImportDeps, source: ImportSource, issues: readonly ExternalIssue[]): SyncCounts {
  try {
    return deps.feed.commit((tx) => {
      const place = placeFor(deps, tx, source.record)
      let imported = 0
      for (const issue of issues) if (importIssue(deps, tx, source, place, issue)) imported++
      return { imported, skipped: issues.length - imported, errors: 0 }
    })
  } catch (error) {
    if (error instanceof TrackerError) throw error
    const [only] = issues
    if (only !== undefined && issues.length === 1) {
      deps.log.warn(
        { err: error, project_id: source.record.project_id, issue: only.number },
        'an issue was not imported',
      )
      return { imported: 0, skipped: 0, errors: 1 }
    }
    // One of them fails; import each alone so that the others don't.
    const each = issues.map((issue) => importChunk(deps, source, [issue]))
    const sum = (key: keyof SyncCounts) => each.reduce((total, counts) => total + counts[key], 0)
    return { imported: sum('imported'), skipped: sum('skipped'), errors: sum('errors') }
  }
}

/** The common fields of an import's tasks, with consecutive positions. */
interface ImportTarget {
  readonly fields: Pick<TaskRecord, 'project_id' | 'repo_id' | 'status' | 'review_config' | 'roles'>
  readonly key: string
  position: number
}

/** Reads the project for every chunk, because it may change during a long import. */
function placeFor(deps: ImportDeps, tx: Tx, record: IntegrationRecord): ImportTarget {
  const project = tx.projects.get(record.project_id)
  const repo = tx.repos.byProject(record.project_id)[0]
  if (!project || !repo) throw new TrackerError('internal_error', 'The project has no repository to work in. Add one.')
  const workflow = deps.workflows.of(project.workflow_definition)
  const state = startState(workflow, record.default_task_state)
  if (state === null) {
    throw new TrackerError(
      'unknown_state',
      `New tasks cannot start in ${record.default_task_state ?? ''}. Choose another default_task_state.`,
    )
  }
  const assignee = assigneeOf(tx, record)
  const role = coderRole(workflow)
  return {
    fields: {
      project_id: project.id,
      repo_id: repo.id,
      status: state.name,
      review_config: toSettings(project).default_review_config,
      roles: assignee !== null && role !== null ? { [role]: assignee } : {},
    },
    key: project.key,
    position: tx.tasks.lastPosition(project.id),
  }
}

function assigneeOf(q: Queries, record: IntegrationRecord): Assignee | null {
  const { default_assignee_type: type, default_assignee_id: id } = record
  if (type === null || id === null) return null
  const assignee = { type, id } as Assignee
  if (assignee.type === 'agent' && q.agents.get(assignee.id) === null) {
    throw new TrackerError(
      'unknown_assignee',
      'The agent that imported tasks are given to was deleted. Choose another, or none.',
    )
  }
  return assignee
}

/** Returns whether the issue became a task; false if it is linked already. */
function importIssue(
  deps: ImportDeps,
  tx: Tx,
  source: ImportSource,
  place: ImportTarget,
  issue: ExternalIssue,
): boolean {
  const { record, base } = source
  const repositories: readonly Repository[] = [record, ...record.former_names]
  if (knownIds(base, repositories, issue.number).some((id) => tx.external_links.get(id) !== null)) return false
  const address = issueAddress(record.platform, base, record, issue.number)
  const now = tx.now()
  const text = taskTextOf(issue, { url: address.url, files: filesOf(record.platform, base, record) })
  const number = tx.tasks.nextNumber(record.project_id)
  const taskFields = { ...place.fields, ...text, id: deps.newId() as TaskId, number, position: ++place.position }
  const task: TaskRecord = createTask(taskFields, now)
  tx.tasks.add(task)
  tx.external_links.add({ ...address, project_id: task.project_id, task_id: task.id, created_at: now })
  tx.emit('task.created', {
    project_id: task.project_id,
    task_id: task.id,
    task: toImportedTask(task, place.key, address),
  })
  return true
}
