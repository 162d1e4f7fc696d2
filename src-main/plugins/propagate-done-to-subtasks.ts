import { z } from 'zod'
import { moveSubtasks } from './move-subtasks.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Moves unfinished ordered subtasks to the state of their parent. */
export const propagateDoneToSubtasks: PluginDefinition = {
  name: 'propagate_done_to_subtasks',
  purpose: 'Mark the ordered subtasks done with their parent.',
  phases: ['on_enter', 'after_enter'],
  events: ['on_task_done'],
  options: z.strictObject({}),
  traits: [],
  create: (services) => ({
    run: (context) => {
      const { name: to, label } = context.state
      const request = { to, cause: 'cascade', reason: `Its parent went to ${label}.` } as const
      return moveSubtasks(services, context, request, (subtask) => subtask.subtask_mode === 'ordered')
    },
  }),
}
