import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import { fitHunks } from './rules/fit-hunks.ts'
import type { Ground } from '../core/ground.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { redactorOf } from '../core/redactor-of.ts'

/** In characters. Small, because it is part of every event of the task and of every card. */
const onTask = { hunks: 12, each: 2_000, all: 12_000 }
const inPrompt = { hunks: 100, each: 8_000, all: 60_000 }

/** Returns the hunks of a conflict in a size that a task (or its coder's prompt) can hold, with secrets redacted. */
export function toConflictHunks(
  context: Pick<Ground, 'redactor' | 'store'>,
  task: Pick<TaskRecord, 'project_id'>,
  hunks: readonly ConflictHunk[],
  where: 'on_task' | 'in_prompt' = 'on_task',
): ConflictHunk[] {
  const clean = redactHunks(context, task, hunks)
  return fitHunks(clean, where === 'on_task' ? onTask : inPrompt)
}

/** Redacts the project's secrets in the hunks of a conflict. */
export function redactHunks(
  { redactor, store }: Pick<Ground, 'redactor' | 'store'>,
  { project_id }: Pick<TaskRecord, 'project_id'>,
  hunks: readonly ConflictHunk[],
): ConflictHunk[] {
  const redact = redactorOf({ redactor }, store.read, project_id)
  return hunks.map((hunk) => ({ ...hunk, text: hunk.text === null ? null : redact(hunk.text) }))
}
