import { z } from 'zod'
import { ProjectId, RunnerId, Timestamp } from './ids.ts'

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'The `sha256` of the refusal: 64 digits of 0-9 and a-f.')

/** One thing by which a dev container reaches the machine that it runs on. */
export const TrustWant = z.object({
  kind: z
    .enum(['command', 'mount', 'privilege', 'variable'])
    .describe(
      '`command`: runs on the machine. `mount`: a folder or volume. `privilege`: a right of the container. `variable`: of the machine’s environment.',
    ),
  text: z.string(),
})
export type TrustWant = z.infer<typeof TrustWant>

/** What an admin is asked before a dev container may reach the machine: `details` of `runner_needs_trust`. */
export const NeededTrust = z.object({
  runner_id: RunnerId,
  runner: z.string().describe('The name of the runner.'),
  project_id: ProjectId,
  path: z.string().describe('The `devcontainer.json` in the repository.'),
  sha256: Sha256.describe('Names what is wanted and the files that it comes from: with other content it is another.'),
  wants: z.array(TrustWant),
})
export type NeededTrust = z.infer<typeof NeededTrust>

/** What an admin let reach the machine of a runner. */
export const RunnerTrust = z.object({
  runner_id: RunnerId,
  project_id: ProjectId,
  sha256: Sha256,
  trusted_by: z.string().describe('Who said so: `user:` and a name.'),
  created_at: Timestamp,
})
