import { z } from 'zod'
import { ReviewId, TaskId, Timestamp } from './ids.ts'

export const reviewStatuses = ['pending', 'running', 'passed', 'failed', 'cancelled'] as const
export type ReviewStatus = (typeof reviewStatuses)[number]

export const StepResult = z.object({
  command: z.string(),
  exit_code: z.int().nullable().describe('null while it runs; 124 when it ran out of time.'),
  duration_ms: z.int().nullable(),
  output_tail: z.string().describe('The last 10 KB of its output.'),
  log_name: z.string(),
})
export type StepResult = z.infer<typeof StepResult>

export const Verdict = z.object({
  by: z.string(),
  verdict: z.enum(['pass', 'fail']),
  feedback: z.string().nullable(),
  head_commit: z.string().nullable().describe('The commit that was judged.'),
  created_at: Timestamp,
})
export type Verdict = z.infer<typeof Verdict>

export const Review = z
  .object({
    id: ReviewId,
    task_id: TaskId,
    status: z.enum(reviewStatuses),
    attempt_number: z.int(),
    ci_steps: z.array(z.string()).describe('The steps of this attempt, also those not run yet.'),
    step_results: z.array(StepResult),
    verdicts: z.array(Verdict),
    head_commit: z
      .string()
      .nullable()
      .describe('The commit that this attempt judges; a verdict does not pass another one.'),
    tree: z
      .string()
      .nullable()
      .describe('Git’s tree of all that this attempt judges, committed or not; agents merge nothing else.'),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Review' })
export type Review = z.infer<typeof Review>
