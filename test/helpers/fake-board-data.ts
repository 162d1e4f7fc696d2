import type { Activity } from '../../src-shared/contract/events.ts'
import type { Execution } from '../../src-shared/contract/executions.ts'
import { ExecutionId, TaskId, type AgentId, type ProjectId } from '../../src-shared/contract/ids.ts'
import type { Agent, Project } from '../../src-shared/contract/projects.ts'
import type { ReviewSummary, Task } from '../../src-shared/contract/tasks.ts'
import { boardIds, plainTask, runningExecution, uuid } from './plain-task.ts'

/** A task by its differences from the plainest one. */
interface TaskSeed extends Partial<Omit<Task, 'id' | 'roles'>> {
  readonly tail: string
  readonly title: string
  readonly who?: readonly (keyof typeof boardIds)[]
  /** The agent's current activity, and for how many seconds. */
  readonly live?: readonly [string, number]
}

const review = (steps: ReviewSummary['steps'], status: ReviewSummary['status'], attempt = 1): ReviewSummary => ({
  attempt_number: attempt,
  status,
  steps,
})
const stat = (additions: number, deletions: number, files = 3) => ({ files, additions, deletions })
const passed = ['passed', 'passed', 'passed', 'passed'] as const

const seeds: readonly TaskSeed[] = [
  {
    tail: 'e05b18',
    title: 'Rate-limit deliveries per destination host',
    status: 'todo',
    priority: 3,
    who: ['claude'],
    labels: ['delivery'],
  },
  {
    tail: '3f90ab',
    title: 'Sign outgoing payloads with per-endpoint Ed25519 keys',
    status: 'todo',
    priority: 3,
    labels: ['security'],
  },
  {
    tail: 'c7712d',
    title: 'Document the dead-letter replay endpoint',
    status: 'todo',
    priority: 1,
    labels: ['docs'],
    external_issue_number: 412,
  },
  { tail: '91d4c0', title: 'Drop Node 20 from the CI matrix', status: 'todo', priority: 1 },
  { tail: '0ac9e7', title: 'Show next attempt time on the endpoint page', status: 'todo', external_issue_number: 398 },
  { tail: '47aa92', title: 'Tenant-scoped API keys', status: 'planning', priority: 1, who: ['claude', 'user'] },
  {
    tail: 'b20c71',
    title: 'Move delivery attempts to a partitioned table',
    status: 'planning',
    priority: 3,
    who: ['opencode'],
    labels: ['store'],
    live: ['Read src/store/schema.ts', 192],
  },
  {
    tail: '8e41c2',
    title: 'Retry with full jitter and honour Retry-After',
    status: 'in_progress',
    priority: 3,
    who: ['claude'],
    labels: ['delivery'],
    diff_stat: stat(182, 47),
    live: ['Edit src/delivery/backoff.ts', 761],
  },
  {
    tail: 'd6b3f5',
    title: 'Postgres store behind the Store interface',
    status: 'in_progress',
    priority: 2,
    who: ['opencode'],
    labels: ['store'],
    diff_stat: stat(1204, 310, 31),
    live: ['npm test -- store/pg', 2467],
  },
  {
    tail: '6a1f3e',
    title: 'Cap payload size before it reaches the queue',
    status: 'in_progress',
    priority: 2,
    who: ['auditor'],
    labels: ['delivery'],
    entry_barrier: true,
    error_annotation: {
      type: 'hook_failed',
      message: 'Barrier up: npm ci exited 1',
      recovery_actions: ['retry_hook', 'skip_hook_once'],
    },
  },
  {
    tail: 'f2087b',
    title: 'Import endpoints from Svix export files',
    status: 'blocked',
    priority: 1,
    who: ['opencode'],
    diff_stat: stat(96, 3),
    external_issue_number: 377,
    error_annotation: {
      type: 'retry_budget_exhausted',
      message: 'Asks which export version to support',
      recovery_actions: ['resume'],
    },
  },
  {
    tail: '5fd07a',
    title: 'Lease deliveries so two workers never send the same event',
    status: 'review',
    priority: 4,
    who: ['claude', 'auditor'],
    diff_stat: stat(312, 88),
    review_summary: review([...passed], 'passed', 3),
    review_passed_at: '2026-11-21T08:00:00.000Z',
  },
  {
    tail: '1c94d8',
    title: 'Redact Authorization headers in delivery logs',
    status: 'review',
    priority: 3,
    who: ['opencode', 'auditor'],
    diff_stat: stat(58, 12),
    entry_barrier: true,
    review_summary: review(['passed', 'passed', 'running', 'waiting'], 'running'),
  },
  {
    tail: 'a83e60',
    title: 'Prometheus histogram for delivery latency',
    status: 'review',
    priority: 1,
    who: ['opencode'],
    diff_stat: stat(141, 9),
    review_summary: review(['passed', 'passed', 'failed', 'waiting'], 'failed'),
  },
  {
    tail: '72e5bd',
    title: 'Upgrade better-sqlite3 to 12.4',
    status: 'merging',
    priority: 2,
    who: ['auditor'],
    diff_stat: stat(22, 31),
    review_summary: review([...passed], 'passed'),
  },
  {
    tail: 'bb4190',
    title: 'Split the dashboard bundle by route',
    status: 'merge_failed',
    priority: 1,
    who: ['claude'],
    diff_stat: stat(264, 198),
    review_summary: review([...passed], 'passed'),
    error_annotation: {
      type: 'merge_conflict',
      message: 'Conflicts in 2 files with main',
      recovery_actions: ['retry_merge'],
      files: ['a.ts', 'b.ts'],
    },
  },
  {
    tail: 'e19c33',
    title: 'Verify signatures in constant time',
    status: 'done',
    who: ['claude'],
    diff_stat: stat(19, 8),
  },
  {
    tail: '0d7ff1',
    title: 'Close idle keep-alive sockets on reload',
    status: 'done',
    who: ['opencode'],
    diff_stat: stat(44, 5),
  },
  {
    tail: 'c3a07e',
    title: 'Serve the dashboard from a sub-path',
    status: 'done',
    who: ['user'],
    diff_stat: stat(31, 17),
  },
  { tail: '84f5d2', title: 'Kafka sink (superseded by HTTP sink)', status: 'cancelled' },
]

const agent = (id: AgentId, name: string, executor: Agent['executor'], at: string): Agent => ({
  id,
  name,
  owner_id: null,
  daemon_id: null,
  executor,
  config: executor === 'command' ? { command: './agent.sh' } : {},
  paused: false,
  created_at: at,
})
const project = (id: ProjectId, name: string, at: string): Project => ({
  id,
  name,
  key: name.slice(0, 3).toUpperCase(),
  owner_id: null,
  paused_at: null,
  workflow_definition: '',
  repos: [{ id: boardIds.repo, name, path: `/home/somebody/code/${name}`, default_branch: 'main', is_primary: true }],
  imports_issues: false,
  created_at: at,
  updated_at: at,
})

/** Two projects with every condition that a card can show. */
export function boardData(now: number) {
  const at = (seconds: number) => new Date(now - seconds * 1_000).toISOString()
  const executions: Execution[] = []
  const activities: Activity[] = []
  const tasks = seeds.map(({ tail, who = [], live, ...rest }, index): Task => {
    const id = TaskId.parse(uuid(5, index, tail))
    const names = ['coder', 'reviewer'] as const
    const assignee = (key: keyof typeof boardIds) =>
      key === 'user'
        ? ({ type: 'user', id: boardIds.user } as const)
        : ({ type: 'agent', id: key === 'claude' || key === 'opencode' ? boardIds[key] : boardIds.auditor } as const)
    const execution = live ? ExecutionId.parse(uuid(6, index, tail)) : null
    if (execution && live) {
      executions.push(runningExecution(execution, id, at(live[1])))
      activities.push({
        project_id: boardIds.ferry,
        task_id: id,
        execution_id: execution,
        text: live[0],
        quiet_since: null,
        occurred_at: at(0),
      })
    }
    return {
      ...plainTask(id, at(90_000 - index * 60)),
      ...rest,
      number: index + 1,
      ref: `FER-${index + 1}`,
      position: seeds.length - index,
      roles: Object.fromEntries(who.map((key, order) => [names[order] ?? 'planner', assignee(key)])),
      active_execution_id: execution,
      updated_at: at(index * 40),
    }
  })
  return {
    projects: [project(boardIds.ferry, 'ferry', at(9_000)), project(boardIds.lantern, 'lantern-cli', at(8_000))],
    agents: [
      agent(boardIds.claude, 'Claude Code', 'claude-code', at(9_000)),
      agent(boardIds.opencode, 'Open fixer', 'command', at(9_000)),
      agent(boardIds.auditor, 'Auditor', 'claude-code', at(9_000)),
    ],
    tasks,
    executions,
    activities,
  }
}
