import { z } from 'zod'

import { hostProblem, normalHost } from './allowed-hosts.ts'
import { containmentLevels } from './containment-levels.ts'

export const ContainmentLevel = z
  .enum(containmentLevels)
  .describe(
    'What the system lets a run do. `none` (when absent): all that this account may. `worktree`: write its worktree, ' +
      'commits and caches, and read neither keys nor other tasks. `worktree_and_hosts`: that, and reach only the hosts ' +
      'that it needs. `auto`: `worktree` where this machine can.',
  )
export type ContainmentLevel = z.infer<typeof ContainmentLevel>

/** The containment that a run has in effect. */
export const HeldContainment = ContainmentLevel.exclude(['auto'])
export type HeldContainment = z.infer<typeof HeldContainment>

const ContainedPath = z
  .string()
  .max(4_096)
  .regex(/^(?:\/|~\/)[^\0]*[^\0/.]$/, 'An absolute path, or one below `~/`; not `/` itself.')

/** Further hosts that a run may reach. */
export const AllowedHosts = z
  .array(
    z
      .string()
      .max(300)
      .overwrite(normalHost)
      .superRefine((host, context) => {
        const message = hostProblem(host)
        if (message !== null) context.addIssue({ code: 'custom', message })
      }),
  )
  .max(100)
/** What each list of them says in its description. */
export const allowedHostsText =
  'Each is a name (`registry.example.com`, `*.example.com`) or an IPv4 address, with or without `:PORT`; or a port of ' +
  'this machine, `127.0.0.1:PORT` from 1024 (`localhost:PORT` is saved as that). What no run could reach is ' +
  '`validation_failed`.'

/** Further paths that a run may read or write. */
export const ExtraPaths = z.object({
  read: z.array(ContainedPath).max(100).optional(),
  write: z.array(ContainedPath).max(100).optional(),
})

/** What contained runs of an agent wrote to its private home. */
export const HomePlace = z.object({
  path: z.string().describe('A folder or file, as a path from `~`.'),
  bytes: z.int().describe('Its size; of a folder, the size of its first 20,000 files.'),
  changed_at: z.iso.datetime(),
  exists: z.boolean().describe('Whether your own home has it; to keep it is then to use that.'),
  problem: z.string().nullable().describe('Why it can’t be kept; null if it can.'),
})
export type HomePlace = z.infer<typeof HomePlace>

export const ContainmentStatus = z.object({
  available: z.boolean(),
  kind: z.enum(['bubblewrap', 'seatbelt']).nullable(),
  reason: z
    .string()
    .nullable()
    .describe('Why runs can’t be contained here, and what to do; or why `auto` contains none.'),
})
export type ContainmentStatus = z.infer<typeof ContainmentStatus>
