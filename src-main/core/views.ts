import type { Daemon } from '../../src-shared/contract/daemons.ts'
import type { Ask, Execution, ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import { defaultProjectSettings, type Project, type ProjectSettings } from '../../src-shared/contract/projects.ts'
import { classifyRun } from '../../src-shared/contract/run-failures.ts'
import type { Review } from '../../src-shared/contract/reviews.ts'
import type { Runner } from '../../src-shared/contract/runners.ts'
import type { ReviewSummary, Task } from '../../src-shared/contract/tasks.ts'
import type { DaemonRecord } from '../ports/agent-queries.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { MergeRecord, TaskRecord } from '../ports/task-queries.ts'
import { unenforcedLimits } from './unenforced-limits.ts'
import { workspaceOf } from './workspace-of.ts'

/** Converts a record to the API's form. */
export function toTask(q: Queries, record: TaskRecord): Task {
  const task = withoutInside(record)
  const link = q.external_links.ofTask(record.id)
  return {
    ...task,
    ref: refOf(q, record),
    review_summary: withRejections(q, record),
    dependencies: [...q.dependencies.of(record.id)],
    external_issue_number: link?.number ?? null,
    external_issue_url: link?.url ?? null,
    port_base: workspaceOf(q, record)?.port_base ?? null,
    overlaps: [...q.overlaps.conflictsOf(record.id)],
    // While a run goes on, the work is not yet what would be merged.
    base_conflict: record.active_execution_id === null ? q.base_conflicts.of(record.id) : null,
    pull_request: q.pull_requests.refOf(record.id),
    ...unenforcedLimits(q, record),
  }
}

/** Returns the ref, such as `SHO-42`, with the project's current key. */
export function refOf(
  q: Pick<Queries, 'projects'>,
  { project_id, number }: Pick<TaskRecord, 'project_id' | 'number'>,
): string {
  return toRef(q.projects.get(project_id)?.key ?? '', number)
}

const toRef = (key: string, number: number) => `${key}-${number}`

function withoutInside(record: TaskRecord) {
  const {
    context_holder: _holder,
    last_human_action_id: _attended,
    repository_changes: _repository,
    run_findings: _findings,
    held_to: _rules,
    review_config_changes: _config,
    merge,
    limits: _limits,
    start_when_ready: start,
    ...task
  } = record
  return {
    ...task,
    merged: mergedView(merge),
    start_when_ready: start && { ...start, overrides: withoutValues(start.overrides) },
  }
}

/** How long a merge can be undone. */
export const undoMinutes = 10

function mergedView(merge: MergeRecord | null): Task['merged'] {
  if (merge === null || merge.merged_at === null) return null
  const { base_branch, to: commit, merged_at } = merge
  const undo_until = new Date(Date.parse(merged_at) + undoMinutes * 60_000).toISOString()
  return { base_branch, commit, merged_at, undo_until }
}

/** Removes the values of a claim's variables, because they are as secret as an agent's; keeps the names. */
function withoutValues({ env, ...overrides }: ExecutionOverrides): ExecutionOverrides {
  return { ...overrides, ...(env && { env: Object.fromEntries(Object.keys(env).map((name) => [name, ''])) }) }
}

/** Only a task that failed or was retried can have rejections, so most tasks of a board need no query. */
function withRejections(
  q: Queries,
  { id, last_human_action_id, review_summary: summary }: TaskRecord,
): Task['review_summary'] {
  if (!summary || (summary.attempt_number === 1 && summary.status !== 'failed')) return summary
  const rejections = q.transitions.rejectionsByGate(id, last_human_action_id)
  return rejections.size === 0 ? summary : { ...summary, rejections: Object.fromEntries(rejections) }
}

/** Converts a task that is being created from an issue: no other record refers to it yet. */
export function toImportedTask(
  record: TaskRecord,
  key: string,
  issue: { readonly number: number; readonly url: string },
): Task {
  const task = withoutInside(record)
  return {
    ...task,
    ref: toRef(key, record.number),
    dependencies: [],
    external_issue_number: issue.number,
    external_issue_url: issue.url,
    port_base: null,
    overlaps: [],
    base_conflict: null,
    pull_request: null,
  }
}

export function toProject(q: Queries, record: ProjectRecord): Project {
  const { settings: _inside, ...project } = record
  const repos = q.repos.byProject(record.id).map(({ project_id: _project, ...repo }) => repo)
  return { ...project, repos, imports_issues: q.integrations.byProject(record.id) !== null }
}

export function toExecution(record: ExecutionRecord): Execution {
  const {
    project_id: _p,
    dispatched: _d,
    overrides,
    prompt_parts: _parts,
    start_commit: _c,
    repository_state: _r,
    pid: _i,
    pid_started: _s,
    queue_rank: _rank,
    retry_at,
    containment,
    runner_id,
    ...execution
  } = record
  const failure = classifyRun(execution)
  return {
    ...execution,
    runner_id: record.status === 'queued' ? null : runner_id,
    link: record.status === 'running' ? record.link : null,
    ...(failure !== null && { failure }),
    ...(retry_at !== null && { retry_at }),
    ...(containment !== null && { containment }),
    ...(overrides.message && { message: overrides.message.text }),
  }
}

export function toDaemon(record: DaemonRecord): Daemon {
  const { token_hash: _hash, revoked_at: _revoked, ...daemon } = record
  return daemon
}

/** Converts a record to the API's form; only admins see the configuration. */
export function toRunner(
  q: Pick<Queries, 'executions'>,
  { config, ...record }: RunnerRecord,
  withConfig: boolean,
): Runner {
  const running = q.executions
    .queue()
    .filter(({ agent_id, status, runner_id }) => agent_id !== null && status === 'running' && runner_id === record.id)
  return { ...record, running: running.length, ...(withConfig && config !== null && { config }) }
}

export function toSettings(record: ProjectRecord): ProjectSettings {
  return { ...defaultProjectSettings, ...record.settings }
}

export function toReviewSummary(review: Review): ReviewSummary {
  return {
    attempt_number: review.attempt_number,
    status: review.status,
    steps: review.ci_steps.map((_, index) => {
      const result = review.step_results[index]
      if (!result) return 'waiting'
      if (result.exit_code === null) return 'running'
      return result.exit_code === 0 ? 'passed' : 'failed'
    }),
    ...(review.empty && { empty: true }),
    approved_by: [...new Map(review.verdicts.map(({ by, verdict }) => [by, verdict]))].flatMap(([by, verdict]) =>
      verdict === 'pass' ? [by] : [],
    ),
  }
}

/** Converters of records to the API's form that read with the queries outside a transaction. */
export interface Views {
  task(record: TaskRecord): Task
  project(record: ProjectRecord): Project
  execution(record: ExecutionRecord): Execution
  daemon(record: DaemonRecord): Daemon
  runner(record: RunnerRecord, withConfig: boolean): Runner
  settings(record: ProjectRecord): ProjectSettings
}

export function createViews(q: Queries, asksOf: (id: ExecutionId) => readonly Ask[]): Views {
  return {
    task: (record) => toTask(q, record),
    project: (record) => toProject(q, record),
    execution: (record) => {
      const asks = asksOf(record.id)
      return { ...toExecution(record), ...(asks.length > 0 && { asks: [...asks] }) }
    },
    daemon: toDaemon,
    runner: (record, withConfig) => toRunner(q, record, withConfig),
    settings: toSettings,
  }
}
