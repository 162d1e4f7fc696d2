import { hereRunner } from '../../src-shared/contract/runners.ts'
import { withTraits } from './with-traits.ts'
import type { Execution } from '../../src-shared/contract/executions.ts'
import type { Agent, Project } from '../../src-shared/contract/projects.ts'
import type { Task, TaskMove, TransitionEntry } from '../../src-shared/contract/tasks.ts'
import { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { Workspace } from '../../src-shared/contract/workspaces.ts'
import { diff } from './task-panel-diff.ts'
import { ago, id, ids } from './task-panel-ids.ts'
import { reviews } from './task-panel-reviews.ts'

/** The default workflow without its planning gate. */
export const workflow = withTraits(
  WorkflowDefinition.parse({
    roles: [
      { name: 'planner', label: 'Planner' },
      { name: 'coder', label: 'Coder' },
      { name: 'reviewer', label: 'Reviewer' },
    ],
    states: [
      {
        name: 'backlog',
        kind: 'backlog',
        column: 'Backlog',
        label: 'Backlog',
        transitions: [{ to: 'todo', label: 'Queue' }],
      },
      {
        name: 'todo',
        kind: 'initial',
        column: 'To do',
        label: 'To do',
        transitions: [{ to: 'in_progress', label: 'Start' }],
      },
      {
        name: 'in_progress',
        kind: 'active',
        role: 'coder',
        column: 'In progress',
        label: 'In progress',
        transitions: [{ to: 'review', label: 'Submit for review' }],
      },
      {
        name: 'review',
        kind: 'gate',
        role: 'reviewer',
        column: 'Review',
        label: 'Review',
        gate_config: { max_rejections: 3, reject_target: 'in_progress' },
        transitions: [
          { to: 'merging', label: 'Merge' },
          { to: 'in_progress', label: 'Request changes' },
        ],
        hooks: { before_enter: [{ plugin: 'run_ci_steps' }] },
      },
      {
        name: 'merging',
        kind: 'custom',
        column: 'Merging',
        label: 'Merging',
        hooks: {
          after_enter: [
            { plugin: 'run_merge', on_failure: { cascade: 'merge_failed' }, on_success: { cascade: 'done' } },
          ],
        },
        transitions: [{ to: 'done', label: 'Merged' }],
      },
      { name: 'merge_failed', kind: 'custom', column: 'Merging', label: 'Merge failed', transitions: [] },
      { name: 'done', kind: 'terminal', column: 'Done', label: 'Done', transitions: [] },
      { name: 'cancelled', kind: 'terminal', column: 'Done', label: 'Cancelled', transitions: [] },
    ],
  }),
)

/** A working task, with everything that its panel loads. */
export function panelData(now: number) {
  const agent: Agent = {
    id: ids.agent,
    name: 'Claude Code',
    owner_id: null,
    daemon_id: null,
    executor: 'claude-code',
    config: {},
    paused: false,
    created_at: ago(9_000, now),
  }
  const project: Project = {
    id: ids.project,
    name: 'ferry',
    key: 'FER',
    owner_id: null,
    paused_at: null,
    workflow_definition: '',
    repos: [{ id: ids.repo, name: 'ferry', path: '/srv/ferry', default_branch: 'main', is_primary: true }],
    imports_issues: false,
    created_at: ago(9_000, now),
    updated_at: ago(9_000, now),
  }
  const task: Task = {
    id: ids.task,
    project_id: ids.project,
    number: 42,
    ref: 'FER-42',
    repo_id: ids.repo,
    parent_id: null,
    subtask_mode: null,
    title: 'Retry with full jitter and honour Retry-After',
    description:
      'Retries double without a random part, so a burst of failures comes back as a burst.\n\n- Full jitter in `nextDelay`\n- A valid `Retry-After` sets the floor\n- Cap at `policy.maxMs`\n\n```ts\nnextDelay(attempt, policy)\n```\n\nSee [the paper](https://example.org/backoff) and ![a chart](https://example.org/chart.png). <script>alert(1)</script>',
    status: 'in_progress',
    version: 4,
    entry_barrier: false,
    review_config: { ci_steps: ['npm run lint', 'npm run typecheck', 'npm test'], review_prompt: null },
    roles: { coder: { type: 'agent', id: ids.agent } },
    dependencies: [],
    labels: ['delivery'],
    priority: 3,
    position: 1,
    review_passed_at: null,
    error_annotation: null,
    external_issue_number: 361,
    external_issue_url: 'https://example.org/issues/361',
    archived: false,
    active_execution_id: ids.running,
    created_under: null,
    start_when_ready: null,
    stacked_on: null,
    review_summary: null,
    diff_stat: { files: 6, additions: 182, deletions: 47 },
    port_base: 23_410,
    overlaps: [],
    reverts: null,
    merged: null,
    base_conflict: null,
    pull_request: null,
    created_at: ago(1_400, now),
    updated_at: ago(12, now),
  }
  const base: Omit<Execution, 'id' | 'status' | 'created_at' | 'started_at' | 'finished_at'> = {
    task_id: ids.task,
    role: 'coder',
    agent_id: ids.agent,
    user_id: null,
    executor: 'claude-code',
    exit_code: null,
    prompt: 'Retry with full jitter',
    session_id: 's',
    usage: null,
    error: null,
    summary: null,
    runner_id: hereRunner,
    attempt: 1,
    link: null,
    last_heartbeat_at: null,
  }
  const executions: Execution[] = [
    {
      ...base,
      id: ids.running,
      status: 'running',
      created_at: ago(12.7, now),
      started_at: ago(12.7, now),
      finished_at: null,
    },
    {
      ...base,
      id: ids.earlier,
      status: 'failed',
      exit_code: 1,
      error: 'The agent exited with code 1 before it had done anything: no model answered.',
      usage: { input_tokens: 184_000, output_tokens: 1_200, cost_usd: 0.84 },
      created_at: ago(50, now),
      started_at: ago(50, now),
      finished_at: ago(34, now),
    },
    {
      ...base,
      id: ids.long,
      status: 'succeeded',
      exit_code: 0,
      usage: { input_tokens: 1_200_000, output_tokens: 30_000, cost_usd: 12.5 },
      created_at: ago(200, now),
      started_at: ago(200, now),
      finished_at: ago(120, now),
    },
  ]
  const workspace: Workspace = {
    id: id(60),
    task_id: ids.task,
    status: 'ready',
    branch: 'svc/retry-with-full-jitter-00000040',
    path: '/home/somebody/.local/share/copse/workspaces/ferry/019b0000-0000-7000-8000-000000000040',
    runner_id: hereRunner,
    arrived_at: null,
    left_there: [],
    base_branch: 'main',
    base_commit: '9c1e77b40a3f1d',
    port_base: 23_410,
    dirty: true,
    ahead: 4,
    behind: 1,
    lock: { execution_id: ids.running, pid: 4242 },
    cleanup_at: null,
    error: null,
    created_at: ago(90, now),
  }
  const moves: TaskMove[] = [
    { to: 'review', label: 'Submit for review', allowed: true, via: 'transition', reason: null },
    { to: 'todo', label: 'Back to queue', allowed: false, via: 'transition', reason: 'The agent is still at work' },
    { to: 'cancelled', label: 'Cancel', allowed: true, via: 'cancel', reason: null },
  ]
  return {
    agent,
    project,
    task,
    executions,
    workspace,
    moves,
    reviews: reviews(now),
    transitions: transitions(now),
    diff: diff(),
  }
}

function transitions(now: number): TransitionEntry[] {
  const entry = (n: number, at: number, from: string, to: string, by: string, more: Partial<TransitionEntry> = {}) => ({
    id: id<TransitionEntry['id']>(80 + n),
    from_state: from,
    to_state: to,
    triggered_by: by,
    rejection: false,
    trigger_reason: null,
    hooks: [],
    created_at: ago(at, now),
    ...more,
  })
  return [
    entry(1, 1_300, 'backlog', 'todo', 'user:somebody'),
    entry(2, 90, 'todo', 'in_progress', `agent:${ids.agent}`),
    entry(3, 70, 'in_progress', 'review', 'system'),
    entry(4, 61, 'review', 'in_progress', `agent:${ids.agent}`, {
      rejection: true,
      trigger_reason: 'Releases the lease too early.',
    }),
    entry(5, 40, 'in_progress', 'review', 'system', {
      hooks: [
        { phase: 'on_exit', action: 'notify_slack', outcome: 'skipped', reason: 'No webhook is set.', duration_ms: 2 },
        {
          phase: 'before_enter',
          action: 'run_ci_steps',
          outcome: 'failed',
          reason: 'npm test exited 1',
          duration_ms: 78_500,
        },
      ],
    }),
    entry(6, 38, 'review', 'in_progress', 'system', {
      rejection: true,
      trigger_reason: 'CI failed: npm test exited 1.',
    }),
  ]
}
