import { z } from 'zod'
import { TranscriptEntry } from './executions.ts'

/** The log of a job that holds what happens in it, a line of JSON each. */
export const eventsLog = 'events'
/** The log with the raw output of an agent. */
export const rawLog = 'raw'

/** What a job tells while it runs. */
export const JobEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('entry'), entry: TranscriptEntry }),
  z.object({ type: z.literal('session'), session_id: z.string() }),
  z.object({
    type: z.literal('answer'),
    answer: z.object({ host: z.string(), status: z.int(), resets_at: z.string().nullable() }),
  }),
  z.object({ type: z.literal('host_allowed'), host: z.string() }),
  /** Output of a step, in base64, since it may be cut within a character. */
  z.object({ type: z.literal('output'), from: z.enum(['stdout', 'stderr']), data: z.string() }),
  z.object({
    type: z.literal('step'),
    exit_code: z.int(),
    timed_out: z.boolean(),
    duration_ms: z.number(),
    output_tail: z.string(),
  }),
])
export type JobEvent = z.infer<typeof JobEvent>
