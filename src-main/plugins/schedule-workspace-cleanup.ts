import { z } from 'zod'
import { toResult } from './cleanup-workspace-now.ts'
import type { Plugin, PluginServices } from '../hooks/plugin.ts'

/** Ten years; beyond that nobody means it. */
const maxSeconds = 315_360_000

const Options = z.strictObject({ seconds: z.int().min(0).max(maxSeconds).optional() })

/**
 * Removes the task's worktree in `seconds`, or after the configured delay of cancelled tasks. It takes
 * the place of the state's own clean-up.
 */
export function scheduleWorkspaceCleanup({ context, cleanup }: PluginServices): Plugin {
  return {
    name: 'schedule_workspace_cleanup',
    purpose: 'Remove the worktree after a while; what is not committed is kept aside.',
    phases: ['on_enter', 'after_enter'],
    events: [],
    options: Options,
    run: ({ task, config }) => {
      const { seconds = context.config.cleanupDelaySeconds } = Options.parse(config)
      return Promise.resolve(toResult(cleanup.later(task, seconds)))
    },
  }
}
