import { workflow } from '../workflow-fixture.ts'
import { expect, test } from 'vitest'
import { isNewer } from '../../../../src-renderer/stores/tasks/task-state.ts'
import { applyEvent, type EventTargets } from '../../../../src-renderer/stores/apply-event.ts'
import type { Comment } from '../../../../src-shared/contract/comments.ts'
import type { EventEnvelope } from '../../../../src-shared/contract/events.ts'
import {
  CommentId,
  DaemonId,
  KnowledgeId,
  TaskTemplateId,
  NotificationId,
  RunnerId,
  TransitionId,
  UserId,
  WorkspaceId,
} from '../../../../src-shared/contract/ids.ts'
import { boardData } from '../../../helpers/fake-board-data.ts'
import { integrationOf } from '../integrations/integration-fixture.ts'
import { taskOf } from '../task-fixture.ts'

const data = boardData(Date.parse('2026-11-21T09:00:00.000Z'))
const task = taskOf(1)
const base = { project_id: task.project_id, occurred_at: task.updated_at }
const ofTask = { ...base, task_id: task.id }

function heard(event: EventEnvelope): unknown[] {
  const calls: unknown[] = []
  const note =
    (name: string) =>
    (value: unknown): void =>
      void calls.push([name, value])
  const targets: EventTargets = {
    tasks: { put: note('tasks.put'), remove: note('tasks.remove') },
    executions: { put: note('executions.put'), removeTask: note('executions.removeTask') },
    reviews: { put: note('reviews.put'), removeTask: note('reviews.removeTask') },
    comments: {
      put: note('comments.put'),
      remove: (...args) => void calls.push(['comments.remove', ...args]),
      removeTask: note('comments.removeTask'),
    },
    news: { changed: (id, what) => void calls.push(['news.changed', id, what]) },
    viewed: { put: (...args) => void calls.push(['viewed.put', ...args]) },
    notifications: {
      created: note('notifications.created'),
      marked: note('notifications.marked'),
      deleted: note('notifications.deleted'),
      forgetTask: note('notifications.forgetTask'),
      forgetProject: note('notifications.forgetProject'),
    },
    knowledge: { changed: note('knowledge.changed') },
    landing: { put: (...args) => void calls.push(['landing.put', ...args]) },
    overlaps: { put: (...args) => void calls.push(['overlaps.put', ...args]) },
    queue: { changed: note('queue.changed') },
    taskTemplates: { changed: note('taskTemplates.changed') },
    integrations: { put: (...args) => void calls.push(['integrations.put', ...args]) },
    pullRequests: { put: (...args) => void calls.push(['pullRequests.put', ...args]) },
    agents: { put: note('agents.put'), remove: note('agents.remove') },
    daemons: { put: (...args) => void calls.push(['daemons.put', ...args]) },
    runners: { put: (...args) => void calls.push(['runners.put', ...args]) },
    accounts: { putUser: note('accounts.putUser'), putMember: note('accounts.putMember') },
    projects: { put: note('projects.put'), remove: note('projects.remove'), workflow: () => workflow },
    warn: note('warn'),
  }
  applyEvent(event, targets)
  return calls
}

test('stores the whole task for every change of it', () => {
  const moved = { ...ofTask, task, from_state: 'todo', to_state: 'review', triggered_by: 'system' }
  expect(heard({ seq: 1, type: 'task.created', data: { ...ofTask, task } })).toEqual([['tasks.put', task]])
  expect(heard({ seq: 1, type: 'task.updated', data: { ...ofTask, task } })).toEqual([['tasks.put', task]])
  expect(heard({ seq: 1, type: 'task.transitioned', data: moved })).toEqual([['tasks.put', task]])
})

test('stores an execution when it waits, starts or ends', () => {
  const [execution] = data.executions
  if (!execution) throw new Error('The board has no execution.')
  for (const type of ['execution.updated', 'execution.started', 'execution.finished'] as const) {
    expect(heard({ seq: 1, type, data: { ...ofTask, execution } })).toEqual([['executions.put', execution]])
  }
})

test('removes executions and reviews with a deleted task', () => {
  expect(heard({ seq: 1, type: 'task.deleted', data: ofTask })).toEqual([
    ['executions.removeTask', task.id],
    ['reviews.removeTask', task.id],
    ['comments.removeTask', task.id],
    ['notifications.forgetTask', task.id],
    ['tasks.remove', task.id],
  ])
})

test('removes agents and projects that are gone and stores the others', () => {
  const [agent] = data.agents
  const [project] = data.projects
  if (!agent || !project) throw new Error('The fixture is empty.')
  const agentData = { ...base, agent_id: agent.id }
  const projectData = { ...base, project_id: project.id }
  expect(heard({ seq: 1, type: 'agent.updated', data: { ...agentData, agent } })).toEqual([['agents.put', agent]])
  expect(heard({ seq: 1, type: 'agent.updated', data: { ...agentData, agent: null } })).toEqual([
    ['agents.remove', agent.id],
  ])
  expect(heard({ seq: 1, type: 'project.updated', data: { ...projectData, project } })).toEqual([
    ['projects.put', project],
  ])
  expect(heard({ seq: 1, type: 'project.updated', data: { ...projectData, project: null } })).toEqual([
    ['notifications.forgetProject', project.id],
    ['projects.remove', project.id],
  ])
})

test('reports a failed hook in a sentence', () => {
  const failed = { ...ofTask, phase: 'on_enter', action: 'notify', reason: 'exit 1' }
  expect(heard({ seq: 1, type: 'transition.effect_failed', data: failed })).toEqual([
    ['warn', 'The hook notify failed at on_enter: exit 1'],
  ])
  const merge = { ...failed, phase: 'after_enter', action: 'run_merge', reason: 'One file conflicts with main.' }
  expect(heard({ seq: 1, type: 'transition.effect_failed', data: merge })).toEqual([
    ['warn', 'The merge failed. One file conflicts with main.'],
  ])
})

test('notifies open timelines and hook lists when a hook has finished', () => {
  const transition_id = TransitionId.parse('01990007-0000-7000-8000-000000000002')
  const hook = { phase: 'on_enter', action: 'script', outcome: 'ok', duration_ms: 5 } as const
  const heardOf = [
    ['news.changed', task.id, 'hooks'],
    ['news.changed', task.id, 'timeline'],
  ]
  const finished = { ...ofTask, transition_id, hook }
  expect(heard({ seq: 1, type: 'hook.finished', data: finished })).toEqual(heardOf)
  const aside = { ...ofTask, transition_id: null, hook: { ...hook, phase: 'on_work_stop' } as const }
  expect(heard({ seq: 2, type: 'hook.finished', data: aside })).toEqual(heardOf)
})

test('notifies open workspaces of a change', () => {
  const workspace = WorkspaceId.parse('01990007-0000-7000-8000-000000000001')
  const cleaned = { ...ofTask, workspace_id: workspace, branch: 'svc/x' }
  const updated = { ...cleaned, status: 'cleaned', cleanup_at: null } as const
  expect(heard({ seq: 1, type: 'workspace.updated', data: updated })).toEqual([['news.changed', task.id, 'workspace']])
  expect(heard({ seq: 2, type: 'workspace.cleaned', data: cleaned })).toEqual([])
  const rescue = { ...ofTask, ref: `refs/svc/rescue/${task.id}/20261121T090000000Z` }
  expect(heard({ seq: 3, type: 'rescue.given_up', data: rescue })).toEqual([['news.changed', task.id, 'workspace']])
})

test('marks files as viewed that were marked elsewhere', () => {
  const files = [{ path: 'a.ts', blob: null, new_mode: null }]
  const marked = { ...ofTask, user_id: null, files, hunks: ['1'], viewed: true }
  expect(heard({ seq: 1, type: 'diff.viewed', data: marked })).toEqual([['viewed.put', task.id, marked]])
})

test('updates the inbox for new, read and deleted notifications', () => {
  const notification_id = NotificationId.parse('01990009-0000-7000-8000-000000000001')
  const notice = { ...ofTask, notification_id, event_type: 'task.done', title: 'Done', body: null } as const
  const read = { ...base, user_id: null, notification_id: null, read: true }
  expect(heard({ seq: 1, type: 'notification.created', data: notice })).toEqual([['notifications.created', notice]])
  expect(heard({ seq: 2, type: 'notification.read', data: read })).toEqual([['notifications.marked', read]])
  expect(heard({ seq: 3, type: 'notification.deleted', data: { ...ofTask, notification_id } })).toEqual([
    ['notifications.deleted', notification_id],
  ])
})

test('stores a comment, or removes it from its task', () => {
  const comment: Comment = {
    id: CommentId.parse('01990008-0000-7000-8000-000000000001'),
    task_id: task.id,
    parent_id: null,
    author: { type: 'operator', id: null, name: 'Local operator' },
    body: 'Why?',
    anchor: null,
    state: 'draft',
    sent: null,
    answer: null,
    original: null,
    applied: null,
    resolved_at: null,
    created_at: task.updated_at,
    updated_at: task.updated_at,
  }
  const put = [['comments.put', comment]]
  expect(heard({ seq: 1, type: 'comment.created', data: { ...ofTask, comment } })).toEqual(put)
  expect(heard({ seq: 2, type: 'comment.updated', data: { ...ofTask, comment } })).toEqual(put)
  expect(heard({ seq: 3, type: 'comment.deleted', data: { ...ofTask, comment_id: comment.id } })).toEqual([
    ['comments.remove', task.id, comment.id],
  ])
})

test('notifies open views of knowledge, templates and people, and leaves the board alone', () => {
  const knowledge_id = KnowledgeId.parse('01990010-0000-7000-8000-000000000001')
  const forgotten = { ...base, knowledge_id, entry: null }
  expect(heard({ seq: 5, type: 'knowledge.updated', data: forgotten })).toEqual([
    ['knowledge.changed', task.project_id],
  ])
  expect(heard({ seq: 5, type: 'queue.updated', data: base })).toEqual([['queue.changed', task.project_id]])
  const template_id = TaskTemplateId.parse('01990013-0000-7000-8000-000000000001')
  const noTemplate = { ...base, template_id, template: null }
  expect(heard({ seq: 5, type: 'task_template.updated', data: noTemplate })).toEqual([
    ['taskTemplates.changed', task.project_id],
  ])
  const user_id = UserId.parse('01990011-0000-7000-8000-000000000001')
  const left = { ...base, user_id, member: null }
  expect(heard({ seq: 6, type: 'member.updated', data: left })).toEqual([['accounts.putMember', left]])
  const user = {
    id: user_id,
    email: 'a@b.c',
    handle: 'a',
    display_name: 'A',
    is_admin: false,
    created_at: task.updated_at,
  }
  expect(heard({ seq: 7, type: 'user.updated', data: { ...base, user } })).toEqual([['accounts.putUser', user]])
  const daemon_id = DaemonId.parse('01990012-0000-7000-8000-000000000001')
  expect(heard({ seq: 8, type: 'daemon.updated', data: { ...base, daemon_id, daemon: null } })).toEqual([
    ['daemons.put', daemon_id, null],
  ])
  const runner_id = RunnerId.parse('01990031-0000-7000-8000-000000000001')
  expect(heard({ seq: 9, type: 'runner.updated', data: { ...base, runner_id, runner: null } })).toEqual([
    ['runners.put', runner_id, null],
  ])
})

test('does not undo a newer event with a late reply', () => {
  const known = taskOf(1, { version: 3, updated_at: '2026-11-21T09:00:03.000Z' })
  expect(isNewer(known, undefined)).toBe(true)
  expect(isNewer(taskOf(1, { version: 2, updated_at: '2026-11-21T09:00:09.000Z' }), known)).toBe(false)
  expect(isNewer(taskOf(1, { version: 3, updated_at: '2026-11-21T09:00:02.000Z' }), known)).toBe(false)
  expect(isNewer(taskOf(1, { version: 3, updated_at: '2026-11-21T09:00:04.000Z' }), known)).toBe(true)
  expect(isNewer(taskOf(1, { version: 4, updated_at: '2026-11-21T09:00:00.000Z' }), known)).toBe(true)
})

test('shows an integration as in its last event', () => {
  const integration = integrationOf()
  const ofIt = { ...base, integration_id: integration.id }
  const updated = { ...ofIt, integration }
  expect(heard({ seq: 1, type: 'integration.updated', data: updated })).toEqual([
    ['integrations.put', task.project_id, integration],
  ])
  expect(heard({ seq: 2, type: 'integration.updated', data: { ...ofIt, integration: null } })).toEqual([
    ['integrations.put', task.project_id, null],
  ])
  const done = { ...ofIt, imported_count: 1, skipped_count: 0, error_count: 0 }
  expect(heard({ seq: 3, type: 'ExternalSyncCompleted', data: done })).toEqual([])
  const failed = { ...ofIt, reason: 'timed_out', message: 'Later.' } as const
  expect(heard({ seq: 4, type: 'ExternalSyncFailed', data: failed })).toEqual([])
})
