import { z } from 'zod'
import { RepoId, TaskId, Timestamp } from './ids.ts'

const landingModes = ['off', 'serial', 'speculative'] as const

/** How finished work reaches its base branch. */
export const LandingSettings = z.strictObject({
  mode: z
    .enum(landingModes)
    .default('serial')
    .describe(
      '`serial`: tasks land one after the other, each merge tested before the base moves. `speculative`: those that wait are tested together. `off`: merges are not tested.',
    ),
  steps: z
    .array(z.string().min(1))
    .max(100)
    .nullable()
    .default(null)
    .describe(
      'What a merge must pass. null: the checks of the task and the default checks of the project; []: nothing.',
    ),
  max_parallel: z.int().min(1).max(16).default(2).describe('How many merges are tested at a time (`speculative`).'),
  retry_failed: z
    .boolean()
    .default(false)
    .describe('A step that fails runs once more; if it passes then, it counts as passed and is called flaky.'),
})
export type LandingSettings = z.infer<typeof LandingSettings>

export const defaultLanding: LandingSettings = { mode: 'serial', steps: null, max_parallel: 2, retry_failed: false }

/** How a move into a state that merges ended. */
export const LandingResult = z
  .object({
    result: z.enum(['landed', 'red', 'conflict', 'removed']),
    step: z.string().nullable().describe('Of `red`: the command that failed.'),
    exit_code: z.int().nullable(),
    output_tail: z.string(),
    with: z.array(TaskId).describe('Of `red`: the tasks that landed since its branch began; it passes without them.'),
  })
  .meta({ id: 'LandingResult' })
export type LandingResult = z.infer<typeof LandingResult>

const healths = ['green', 'red', 'unknown'] as const

export const LandingPlace = z.object({
  task_id: TaskId,
  position: z.int().describe('From 1.'),
  state: z.enum(['waiting', 'testing', 'moving']),
  with: z.array(TaskId).describe('The tasks that are tested with it.'),
  steps: z.array(z.string()),
  started_at: Timestamp.nullable(),
  lands_at: Timestamp.nullable().describe(
    'When it will probably have landed, by the median of the last landings on the branch; null while none is known since the service started.',
  ),
})
export type LandingPlace = z.infer<typeof LandingPlace>

/** One branch on which tasks land. */
export const LandingLane = z
  .object({
    repo_id: RepoId,
    branch: z.string(),
    commit: z.string().nullable().describe('What the branch points at; null when it is not there.'),
    health: z.enum(healths).describe('Of that very commit: whether its checks passed.'),
    checking: z.boolean().describe('Its checks are running now.'),
    failure: z
      .object({
        step: z.string(),
        exit_code: z.int(),
        output_tail: z.string(),
        checked_at: Timestamp,
        last_green: z.string().nullable().describe('The last commit that is known to have passed.'),
      })
      .nullable()
      .describe('Of a red base.'),
    tasks: z.array(LandingPlace),
  })
  .meta({ id: 'LandingLane' })
export type LandingLane = z.infer<typeof LandingLane>
