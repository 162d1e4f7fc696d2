import { z } from 'zod'

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
      .regex(
        /^(?:\*\.)?[\w-]+(?:\.[\w-]+)+(?::\d{1,5})?$|^localhost(?::\d{1,5})?$/,
        'A host, like `registry.example.com`, or a port of this machine, like `127.0.0.1:11434`.',
      )
      .superRefine((host, context) => {
        const message = hostProblem(host)
        if (message !== null) context.addIssue({ code: 'custom', message })
      }),
  )
  .max(100)

/** The ports inside a run's network at which containment itself listens. */
const takenPorts = [1080, 3128]

/** Returns why no run could reach a host that is written as it should be; null if one may. */
function hostProblem(host: string): string | null {
  const [name = '', port = ''] = host.split(':')
  if (port !== '' && (Number(port) < 1 || Number(port) > 65_535)) return `${host} has no port that exists.`
  if (/^\*\.[^.]+$/.test(name)) return `${host} is every host below .${name.slice(2)}. Name one domain.`
  if (/^(?:0|169\.254)\./.test(name)) return `${name} is no address that a run may reach.`
  if (portOfThisMachine(host) !== null || !/^(?:localhost|127\.[\d.]+)$/.test(name)) return null
  if (name !== 'localhost' && name !== '127.0.0.1') return `Of this machine, a run reaches 127.0.0.1:PORT only.`
  if (port === '') return `Name a port of this machine, like ${name}:11434.`
  if (takenPorts.includes(Number(port)))
    return `Containment itself uses port ${port}. Let the server listen at another.`
  return `A run can’t reach ports below 1024 of this machine. Let the server listen at another.`
}

/** Returns the port of this machine that an allowed host names; null for other hosts. */
export function portOfThisMachine(host: string): number | null {
  const port = Number(/^(?:localhost|127\.0\.0\.1):(\d+)$/.exec(host)?.[1] ?? Number.NaN)
  return port >= 1024 && port <= 65_535 && !takenPorts.includes(port) ? port : null
}

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
