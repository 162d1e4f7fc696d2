import { z } from 'zod'
import { ExecutionId, KnowledgeId, ProjectId, TaskId, Timestamp } from './ids.ts'
import { shownName } from './shown-name.ts'

/** The fields of an entry that clients set. */
export const KnowledgeFields = z.object({
  title: shownName().min(1).max(300),
  body: z.string().trim().min(1).max(50_000),
})

/** Agents get accepted entries. What a run writes is proposed until a person accepts it. */
export const KnowledgeStatus = z.enum(['accepted', 'proposed'])

/** An entry of a project's knowledge, found by its words. */
export const KnowledgeEntry = z
  .object({
    id: KnowledgeId,
    project_id: ProjectId,
    title: z.string(),
    body: z.string(),
    source: z
      .object({
        by: z.string().describe('`agent:<id>`, `user:<handle>` or `system`, which captured it.'),
        task_id: TaskId.nullable(),
        execution_id: ExecutionId.nullable(),
      })
      .describe('Where it comes from.'),
    status: KnowledgeStatus.describe(
      '`proposed`: a run wrote it and no person has accepted it; it is in no prompt. `accepted`: agents get it.',
    ),
    accepted_by: z.string().nullable().describe('`user:<handle>` who accepted the proposal; null: it was never one.'),
    edited_by: z
      .string()
      .nullable()
      .describe('`user:<handle>` of who edited it last. Entries that a person edited are not captured again.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'KnowledgeEntry' })
export type KnowledgeEntry = z.infer<typeof KnowledgeEntry>
