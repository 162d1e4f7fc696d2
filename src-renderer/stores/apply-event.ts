import type { Comment } from '../../src-shared/contract/comments.ts'
import type { Daemon } from '../../src-shared/contract/daemons.ts'
import type { EventEnvelope, EventPayload } from '../../src-shared/contract/events.ts'
import type { Execution } from '../../src-shared/contract/executions.ts'
import type { User } from '../../src-shared/contract/identity.ts'
import type { Integration } from '../../src-shared/contract/integrations.ts'
import type { Overlap } from '../../src-shared/contract/overlaps.ts'
import type { LandingLane } from '../../src-shared/contract/landing.ts'
import type { Agent, Project } from '../../src-shared/contract/projects.ts'
import type { PullRequest } from '../../src-shared/contract/pull-requests.ts'
import type { Review } from '../../src-shared/contract/reviews.ts'
import type { Runner } from '../../src-shared/contract/runners.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { assertNever } from '../../src-shared/lang/assert-never.ts'
import { pluginHas } from '../model/workflow-shape.ts'

/** What a reader has marked as viewed or not. */
type MarkedAsViewed = Pick<EventPayload<'diff.viewed'>, 'files' | 'hunks' | 'viewed'>

/** The stores that an event changes. They are passed in, so tests of `applyEvent` need no real stores. */
export interface EventTargets {
  readonly tasks: { put(task: Task): void; remove(taskId: string): void }
  readonly executions: { put(execution: Execution): void; removeTask(taskId: string): void }
  readonly reviews: { put(review: Review): void; removeTask(taskId: string): void }
  readonly comments: {
    put(comment: Comment): void
    remove(taskId: string, commentId: string): void
    removeTask(taskId: string): void
  }
  readonly news: { changed(taskId: string, what: 'workspace' | 'timeline' | 'hooks' | 'chapters'): void }
  readonly viewed: { put(taskId: string, marked: MarkedAsViewed): void }
  readonly notifications: {
    created(data: EventPayload<'notification.created'>): void
    marked(data: EventPayload<'notification.read'>): void
    deleted(notificationId: string): void
    forgetTask(taskId: string): void
    forgetProject(projectId: string): void
  }
  readonly knowledge: { changed(projectId: string): void }
  readonly landing: { put(projectId: string, lane: LandingLane): void }
  readonly overlaps: { put(projectId: string, items: readonly Overlap[]): void }
  readonly queue: { changed(projectId: string): void }
  readonly taskTemplates: { changed(projectId: string): void }
  readonly integrations: { put(projectId: string, integration: Integration | null): void }
  readonly pullRequests: { put(taskId: string, pullRequest: PullRequest): void }
  readonly agents: { put(agent: Agent): void; remove(agentId: string): void }
  readonly daemons: { put(daemonId: string, daemon: Daemon | null): void }
  readonly runners: { put(runnerId: string, runner: Runner | null): void }
  readonly accounts: { putUser(user: User): void; putMember(data: EventPayload<'member.updated'>): void }
  readonly projects: {
    put(project: Project): void
    remove(projectId: string): void
    workflow(projectId: string): WorkflowDefinition | undefined
  }
  /** Shows a warning: a hook failed, but its policy lets the task continue. */
  readonly warn: (message: string) => void
}

/** Applies an event to the stores. No other code changes the stores because of an event. */
export function applyEvent(event: EventEnvelope, to: EventTargets): void {
  switch (event.type) {
    case 'task.created':
    case 'task.updated':
    case 'task.transitioned':
      return to.tasks.put(event.data.task)
    case 'task.deleted':
      return forgetTask(event.data.task_id, to)
    case 'execution.updated':
    case 'execution.started':
    case 'execution.finished':
      return to.executions.put(event.data.execution)
    case 'review.updated':
      return to.reviews.put(event.data.review)
    case 'workspace.updated':
    case 'rescue.given_up':
      return to.news.changed(event.data.task_id, 'workspace')
    case 'diff.viewed':
      return to.viewed.put(event.data.task_id, event.data)
    case 'hook.finished':
      // The hook's log is complete now, even if no transition waited for it.
      to.news.changed(event.data.task_id, 'hooks')
      return to.news.changed(event.data.task_id, 'timeline')
    case 'transition.effect_failed':
      return to.warn(failureOf(event.data, to.projects.workflow(event.data.project_id)))
    case 'comment.created':
    case 'comment.updated':
      return to.comments.put(event.data.comment)
    case 'comment.deleted':
      return to.comments.remove(event.data.task_id, event.data.comment_id)
    case 'knowledge.updated':
      return to.knowledge.changed(event.data.project_id)
    case 'queue.updated':
      return to.queue.changed(event.data.project_id)
    case 'task_template.updated':
      return to.taskTemplates.changed(event.data.project_id)
    case 'runner.updated':
      return to.runners.put(event.data.runner_id, event.data.runner)
    case 'chapters.updated':
      return to.news.changed(event.data.task_id, 'chapters')
    case 'workspace.cleaned':
    case 'ExternalSyncCompleted':
    case 'ExternalSyncFailed':
      // Already handled by `workspace.updated` and `integration.updated`.
      return
    case 'landing.updated':
      return to.landing.put(event.data.project_id, event.data.lane)
    case 'overlaps.updated':
      return to.overlaps.put(event.data.project_id, event.data.items)
    case 'daemon.updated':
      return to.daemons.put(event.data.daemon_id, event.data.daemon)
    case 'member.updated':
      return to.accounts.putMember(event.data)
    case 'user.updated':
      return to.accounts.putUser(event.data.user)
    case 'notification.created':
      return to.notifications.created(event.data)
    case 'notification.read':
      return to.notifications.marked(event.data)
    case 'notification.deleted':
      return to.notifications.deleted(event.data.notification_id)
    case 'integration.updated':
      return to.integrations.put(event.data.project_id, event.data.integration)
    case 'pull_request.updated':
      return to.pullRequests.put(event.data.task_id, event.data.pull_request)
    case 'agent.updated':
      return event.data.agent ? to.agents.put(event.data.agent) : to.agents.remove(event.data.agent_id)
    case 'project.updated':
      if (event.data.project) return to.projects.put(event.data.project)
      to.notifications.forgetProject(event.data.project_id)
      return to.projects.remove(event.data.project_id)
    default:
      return assertNever(event)
  }
}

function forgetTask(taskId: string, to: EventTargets): void {
  to.executions.removeTask(taskId)
  to.reviews.removeTask(taskId)
  to.comments.removeTask(taskId)
  to.notifications.forgetTask(taskId)
  to.tasks.remove(taskId)
}

function failureOf(
  { action, phase, reason }: { action: string; phase: string; reason: string },
  workflow: WorkflowDefinition | undefined,
): string {
  return pluginHas(workflow, action, 'merges')
    ? `The merge failed. ${reason}`
    : `The hook ${action} failed at ${phase}: ${reason}`
}
