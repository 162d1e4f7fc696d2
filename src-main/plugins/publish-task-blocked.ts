import { z } from 'zod'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Notifies people that the task needs them, and why. Blocked tasks enter the state that has it at `on_enter`. */
export const publishTaskBlocked: PluginDefinition = {
  name: 'publish_task_blocked',
  purpose: 'Tell people that the task is blocked.',
  phases: ['on_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['takes_blocked'],
  create: ({ context }) => ({
    run: ({ task }) => {
      const reason = context.store.read.transitions.last(task.id)?.trigger_reason ?? null
      const { message, advice } = task.error_annotation ?? {}
      const body = message === undefined ? reason : [message, advice].filter(Boolean).join(' ')
      return { kind: 'ok', notify: { event_type: 'task.blocked', body } }
    },
  }),
}
