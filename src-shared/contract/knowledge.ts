import { z } from 'zod'
import { ExecutionId, KnowledgeId, ProjectId, TaskId, Timestamp } from './ids.ts'

/** An entry of a project's knowledge, found by its words. */
/** The fields of an entry that clients set. */
export const KnowledgeFields = z.object({
  title: z.string().trim().min(1).max(300),
  body: z.string().trim().min(1).max(50_000),
})

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
    edited_by: z
      .string()
      .nullable()
      .describe('`user:<handle>` of who edited it last. Entries that a person edited are not captured again.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'KnowledgeEntry' })
export type KnowledgeEntry = z.infer<typeof KnowledgeEntry>
