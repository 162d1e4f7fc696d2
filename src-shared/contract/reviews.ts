import { z } from 'zod'
import { ReviewId, TaskId, Timestamp } from './ids.ts'
import { ReviewConfig } from './projects.ts'

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
  tree: z.string().nullable().optional().describe('All that was judged, committed or not; verdicts of old have none.'),
  created_at: Timestamp,
})
export type Verdict = z.infer<typeof Verdict>

const GitId = z.string().describe('A full object id.')
const movedRef = {
  ref: z.string().describe('Its full name, like `refs/heads/main`.'),
  from: GitId.nullable().describe('null: it was made. For a symbolic ref, `ref: ` and the name that it stands for.'),
  to: GitId.nullable().describe('null: it was deleted.'),
}

export const ReviewNote = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('repository_changed'),
    paths: z
      .array(z.string())
      .describe('Relative to the common git folder: what else changed while agents worked on the task.'),
  }),
  z
    .object({ kind: z.literal('base_moved'), ...movedRef })
    .describe('A run moved the branch that the work is merged into.'),
  z.object({ kind: z.literal('refs_moved'), ...movedRef }).describe('A run moved another ref that is not its own.'),
  z
    .object({
      kind: z.literal('base_rewritten'),
      commits: z.array(GitId).describe('Commits that the base no longer has, and that a merge would bring back.'),
      subjects: z.array(z.string()).describe('The first line of each, in the same order.'),
    })
    .describe('The base was rewritten since the branch began.'),
  z.object({
    kind: z.literal('hidden_text'),
    paths: z.array(z.string()).describe('Files that were text, or look like source, and whose changes can’t be shown.'),
  }),
  z
    .object({ kind: z.literal('same_names'), paths: z.array(z.string()) })
    .describe(
      'Names, some of them new, that a file system without case or with one form of accents takes for one; at most 50.',
    ),
  z
    .object({
      kind: z.literal('secret'),
      files: z
        .array(z.object({ path: z.string(), lines: z.array(z.int()) }))
        .describe(
          'Added lines with what looks like a secret, at most 20 of a file; none if its name says so. At most 50.',
        ),
      commits: z.array(GitId).describe('Commits of the branch whose message has one, at most 50.'),
    })
    .describe('The work adds what looks like a password, a key or a token. The note never has the value.'),
  z
    .object({ kind: z.literal('mass_deletion'), deleted: z.int(), of: z.int() })
    .describe('The work deletes more than half of the files that it began from, and those are more than 20.'),
  z
    .object({ kind: z.literal('work_taken'), from: z.string(), commits: z.int() })
    .describe('The agent worked on another branch or on none; the task’s branch was moved there.'),
  z
    .object({ kind: z.literal('work_left'), ref: z.string(), commits: z.int() })
    .describe('A branch that the agent made, with commits that the task’s branch lacks.'),
  z
    .object({
      kind: z.literal('unasked'),
      count: z.int(),
      actions: z.array(z.string()).describe('The first of them, at most 20: `ran npm test`, `changed src/a.ts`.'),
    })
    .describe('The agent changed or ran things without asking, although its permissions are not `all`.'),
])
export type ReviewNote = z.infer<typeof ReviewNote>

const informs: ReadonlySet<ReviewNote['kind']> = new Set(['work_taken', 'work_left'])
/** Returns whether a review with this note waits for a person's verdict. */
export const needsPerson = ({ kind }: ReviewNote): boolean => !informs.has(kind)

export const ReviewConfigChange = z.object({
  by: z.string(),
  at: Timestamp,
  before: ReviewConfig,
})
export type ReviewConfigChange = z.infer<typeof ReviewConfigChange>

export const Review = z
  .object({
    id: ReviewId,
    task_id: TaskId,
    status: z.enum(reviewStatuses),
    attempt_number: z.int(),
    ci_steps: z.array(z.string()).describe('The steps of this attempt, also those not run yet.'),
    step_results: z.array(StepResult),
    verdicts: z.array(Verdict),
    head: z.string().nullable().describe('The commit that the judged work lies on.'),
    tree: z
      .string()
      .nullable()
      .describe(
        'Git’s tree of what was judged, committed or not: the work when the last step or verdict ended. Nothing else is merged.',
      ),
    changed_by_steps: z.array(z.string()).describe('The files that changed while the checks ran.'),
    notes: z
      .array(ReviewNote)
      .describe(
        'What a person has to look at: until a user’s verdict `pass` the review stays `running`, unless all notes are `work_taken` or `work_left`.',
      ),
    empty: z.boolean().describe('The judged work changes nothing against its base.'),
    ignored: z
      .array(z.string())
      .describe('Of empty work: files that runs wrote and git ignores, at most 50. They are not merged.'),
    config_changes: z
      .array(ReviewConfigChange)
      .describe('Who changed the task’s `review_config` since it was made, oldest first, and what it was before.'),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Review' })
export type Review = z.infer<typeof Review>
