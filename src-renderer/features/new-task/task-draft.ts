import { z } from 'zod'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { Assignee } from '../../../src-shared/contract/tasks.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** The form data of a new task. */
export interface TaskDraft {
  title: string
  description: string
  /** Commands of the checks, one per line; empty for those of the project. */
  steps: string
  /** Whether no checks run, not even those of the project. */
  withoutChecks: boolean
  /** The prompt of a reviewing agent; null for that of the project. */
  reviewPrompt: string | null
  /** The initial state; null for that of the workflow. */
  status: string | null
  priority: number
  labels: readonly string[]
  /** The repository of the task; null for the primary one. */
  repoId: string | null
  agentId: string | null
  startNow: boolean
  /** The runner of the start; empty for the usual one. Not kept: it is about this start alone. */
  runnerId: string
  /** The assignees of roles except the working one. */
  roles: Readonly<Record<string, Assignee>>
  /** The IDs of the dependencies. */
  waitsFor: readonly string[]
}

/** The options stored per project on this device; title and description are stored apart. */
const Kept = z
  .object({
    steps: z.string(),
    withoutChecks: z.boolean().default(false),
    reviewPrompt: z.string().nullable().default(null),
    priority: z.int().min(0).max(4),
    labels: z.array(z.string()),
    repoId: z.string().nullable(),
    agentId: z.string().nullable(),
    startNow: z.boolean(),
    roles: z.record(z.string(), Assignee),
    waitsFor: z.array(z.string()),
  })
  .readonly()
export type KeptOptions = z.infer<typeof Kept>

/** Returns the options of a draft as stored text; null if none differs from an empty draft. */
export function optionsText(draft: TaskDraft): string | null {
  const text = (one: TaskDraft) => JSON.stringify(Kept.parse(one))
  return text(draft) === text(emptyDraft(null)) ? null : text(draft)
}

/** Parses stored options; returns none if the text is invalid. */
export function readOptions(text: string | null): Partial<KeptOptions> {
  return Kept.safeParse(parseJson(text ?? '')).data ?? {}
}

/** Returns an empty draft. `startNow` is true, so a chosen agent starts at once. */
export function emptyDraft(status: string | null): TaskDraft {
  return {
    title: '',
    description: '',
    steps: '',
    withoutChecks: false,
    reviewPrompt: null,
    status,
    priority: 0,
    labels: [],
    repoId: null,
    agentId: null,
    startNow: true,
    runnerId: '',
    roles: {},
    waitsFor: [],
  }
}

/** Returns the commands of a text, one per line. */
export function stepsOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Returns the review config of a draft; unset fields are those of the project. */
export function reviewConfigOf({
  steps,
  withoutChecks,
  reviewPrompt,
}: Pick<TaskDraft, 'steps' | 'withoutChecks' | 'reviewPrompt'>) {
  const ci_steps = withoutChecks ? [] : stepsOf(steps)
  return {
    ...((withoutChecks || ci_steps.length > 0) && { ci_steps }),
    ...(reviewPrompt !== null && { review_prompt: reviewPrompt }),
  }
}

/** Returns the request that creates the task; empty fields are left to the project. */
export function taskInput(projectId: string, draft: TaskDraft): OperationInput<'tasks.create'> {
  const review_config = reviewConfigOf(draft)
  return {
    project_id: projectId,
    title: draft.title.trim(),
    priority: draft.priority,
    ...(draft.description.trim() === '' ? {} : { description: draft.description }),
    ...(draft.labels.length === 0 ? {} : { labels: [...draft.labels] }),
    ...(draft.status === null ? {} : { status: draft.status }),
    ...(draft.repoId === null ? {} : { repo_id: draft.repoId }),
    ...(Object.keys(review_config).length === 0 ? {} : { review_config }),
  }
}
