import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { Execution } from '../../src-shared/contract/executions.ts'
import { AgentId, ProjectId, RepoId, UserId, type ExecutionId, type TaskId } from '../../src-shared/contract/ids.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'

/** A readable UUIDv7: its kind, then its number, then the digits that people see. */
export const uuid = (group: number, index: number, tail = '') =>
  `0199${String(group).padStart(4, '0')}-0000-7000-8000-${tail.padStart(12, String(index % 10))}`

/** The IDs that the fixtures share. */
export const boardIds = {
  ferry: ProjectId.parse(uuid(1, 1)),
  lantern: ProjectId.parse(uuid(1, 2)),
  repo: RepoId.parse(uuid(2, 1)),
  claude: AgentId.parse(uuid(3, 1)),
  opencode: AgentId.parse(uuid(3, 2)),
  auditor: AgentId.parse(uuid(3, 3)),
  user: UserId.parse(uuid(4, 1)),
} as const

/** A task with nothing special about it. */
export function plainTask(id: TaskId, at: string): Task {
  return {
    id,
    project_id: boardIds.ferry,
    number: 1,
    ref: 'FER-1',
    repo_id: boardIds.repo,
    parent_id: null,
    subtask_mode: null,
    title: 'A task',
    description: null,
    status: 'todo',
    version: 1,
    entry_barrier: false,
    review_config: { ci_steps: [], review_prompt: null },
    roles: {},
    dependencies: [],
    labels: [],
    priority: 0,
    position: 0,
    review_passed_at: null,
    error_annotation: null,
    external_issue_number: null,
    external_issue_url: null,
    archived: false,
    active_execution_id: null,
    created_under: null,
    start_when_ready: null,
    stacked_on: null,
    review_summary: null,
    diff_stat: null,
    port_base: null,
    overlaps: [],
    reverts: null,
    merged: null,
    base_conflict: null,
    pull_request: null,
    created_at: at,
    updated_at: at,
  }
}

/** An agent that runs since `at`. */
export function runningExecution(id: ExecutionId, taskId: TaskId, at: string): Execution {
  return {
    id,
    task_id: taskId,
    role: 'coder',
    agent_id: boardIds.claude,
    user_id: null,
    executor: 'claude-code',
    status: 'running',
    exit_code: null,
    prompt: '',
    session_id: null,
    usage: null,
    error: null,
    summary: null,
    runner_id: hereRunner,
    attempt: 1,
    link: null,
    started_at: at,
    finished_at: null,
    last_heartbeat_at: null,
    created_at: at,
  }
}
