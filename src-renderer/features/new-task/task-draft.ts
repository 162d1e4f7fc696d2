import type { OperationInput } from '../../../src-shared/contract/operations.ts'

/** A task that is being written. */
export interface TaskDraft {
  title: string
  description: string
  /** CI steps, one a line. */
  steps: string
  /** The state that it begins in; null for the workflow's own choice. */
  status: string | null
  priority: number
  labels: readonly string[]
  /** The repository that it works in; null for the primary one. */
  repoId: string | null
  agentId: string | null
  startNow: boolean
}

/** An empty draft; an agent that is chosen then starts at once unless the person says otherwise. */
export function emptyDraft(status: string | null): TaskDraft {
  return {
    title: '',
    description: '',
    steps: '',
    status,
    priority: 0,
    labels: [],
    repoId: null,
    agentId: null,
    startNow: true,
  }
}

/** The commands of a text field, one a line. */
export function stepsOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** What is sent: what the person left empty stays the project's own. */
export function taskInput(projectId: string, draft: TaskDraft): OperationInput<'tasks.create'> {
  const steps = stepsOf(draft.steps)
  return {
    project_id: projectId,
    title: draft.title.trim(),
    priority: draft.priority,
    ...(draft.description.trim() === '' ? {} : { description: draft.description }),
    ...(draft.labels.length === 0 ? {} : { labels: [...draft.labels] }),
    ...(draft.status === null ? {} : { status: draft.status }),
    ...(draft.repoId === null ? {} : { repo_id: draft.repoId }),
    ...(steps.length === 0 ? {} : { review_config: { ci_steps: steps } }),
  }
}
