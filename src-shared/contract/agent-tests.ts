import { z } from 'zod'
import { TranscriptEntry, Usage } from './executions.ts'

/** A run that only tests whether an agent works. */
export const AgentTest = z
  .object({
    ok: z.boolean(),
    started: z.boolean().describe('Its program was found and began.'),
    answered: z.boolean().describe('The agent answered: it is signed in, and its model works.'),
    ended: z.boolean().describe('The agent ended and reported success.'),
    message: z.string().nullable().describe('Its last words, or why it failed, in a sentence for people.'),
    exit_code: z.int().nullable(),
    duration_ms: z.int(),
    usage: Usage.nullable(),
    entries: z.array(TranscriptEntry).describe('What it said and did; the first 200 things.'),
  })
  .meta({ id: 'AgentTest' })
export type AgentTest = z.infer<typeof AgentTest>
