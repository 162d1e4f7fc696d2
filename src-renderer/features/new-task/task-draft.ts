import { z } from 'zod'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { Assignee } from '../../../src-shared/contract/tasks.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** A task that is being written. */
export interface TaskDraft {
  title: string
  description: string
  /** Commands of the checks, one per line; without any, those of the project run. */
  steps: string
  /** Not even those of the project run. */
  withoutChecks: boolean
  /** What a reviewing agent is asked; null for the words of the project. */
  reviewPrompt: string | null
  /** The state that it begins in; null for the workflow's own choice. */
  status: string | null
  priority: number
  labels: readonly string[]
  /** The repository that it works in; null for the primary one. */
  repoId: string | null
  agentId: string | null
  startNow: boolean
  /** Who has a role beside the one that works. */
  roles: Readonly<Record<string, Assignee>>
  /** The tasks that have to be done first. */
  waitsFor: readonly string[]
}

/** What is kept on this device beside title and description, project by project. */
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

/** The text in which the options of a draft are kept; null where none differs from an empty one. */
export function optionsText(draft: TaskDraft): string | null {
  const text = (one: TaskDraft) => JSON.stringify(Kept.parse(one))
  return text(draft) === text(emptyDraft(null)) ? null : text(draft)
}

/** Reads them back; nothing where somebody else wrote there. */
export function readOptions(text: string | null): Partial<KeptOptions> {
  return Kept.safeParse(parseJson(text ?? '')).data ?? {}
}

/** An empty draft; an agent that is chosen then starts at once unless the person says otherwise. */
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
    roles: {},
    waitsFor: [],
  }
}

/** The commands of a text field, one a line. */
export function stepsOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Returns what a draft says of its review; what it leaves open is the project's. */
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

/** What is sent: what the person left empty stays the project's own. */
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
