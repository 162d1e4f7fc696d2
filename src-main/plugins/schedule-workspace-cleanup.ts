import { z } from 'zod'
import { toResult } from './cleanup-workspace-now.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Ten years: a longer delay is surely a mistake. */
const maxSeconds = 315_360_000

const Options = z.strictObject({ seconds: z.int().min(0).max(maxSeconds).optional() })

/**
 * Removes the task's worktree after `seconds`, or after the delay of cancelled tasks. Replaces the state's default
 * clean-up.
 */
export const scheduleWorkspaceCleanup: PluginDefinition = {
  name: 'schedule_workspace_cleanup',
  purpose: 'Remove the worktree after a delay. Uncommitted changes are kept in a snapshot.',
  phases: ['on_enter', 'after_enter'],
  events: [],
  options: Options,
  traits: ['owns_cleanup'],
  create: ({ context, cleanup }) => ({
    run: ({ task, config }) => {
      const { seconds = context.cleanupDelaySeconds } = Options.parse(config)
      return toResult(cleanup.later(task, seconds))
    },
  }),
}
