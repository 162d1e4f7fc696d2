import { z } from 'zod'
import { moveSubtasks } from './move-subtasks.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Cancels unfinished subtasks and stops their runs. */
export const cancelPendingSubtasks: PluginDefinition = {
  name: 'cancel_pending_subtasks',
  purpose: 'Cancel the subtasks that are not done.',
  phases: ['on_enter', 'after_enter'],
  events: ['on_task_cancel'],
  options: z.strictObject({}),
  traits: [],
  create: (services) => ({
    run: async (context) => {
      const { cancellation } = context.workflow
      if (!cancellation) {
        return { kind: 'failed', reason: 'The workflow of this project has no state for cancelled tasks.' }
      }
      const reason = `Its parent went to ${context.state.label}.`
      return moveSubtasks(services, context, { to: cancellation.name, cause: 'cancel', reason }, () => true)
    },
  }),
}
