import { z } from 'zod'

export const containmentLevels = ['auto', 'none', 'worktree', 'worktree_and_hosts'] as const

export const ContainmentLevel = z
  .enum(containmentLevels)
  .describe(
    'What the system lets a run do. `none` (when absent): all that this account may. `worktree`: write its worktree, ' +
      'commits and caches, and read neither keys nor other tasks. `worktree_and_hosts`: that, and reach only the hosts ' +
      'that it needs. `auto`: `worktree` where this machine can.',
  )
export type ContainmentLevel = z.infer<typeof ContainmentLevel>

export const ContainmentStatus = z.object({
  available: z.boolean(),
  kind: z.enum(['bubblewrap', 'seatbelt']).nullable(),
  reason: z.string().nullable().describe('Why runs can’t be contained here, and what to do.'),
})
export type ContainmentStatus = z.infer<typeof ContainmentStatus>
