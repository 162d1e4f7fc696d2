import { z } from 'zod'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Succeeds when the latest review has passed; the hook's `on_success` names the state that follows, else it is the forward one. */
export const autoCascadeOnReviewPass: PluginDefinition = {
  name: 'auto_cascade_on_review_pass',
  purpose: 'Move a task on automatically when its review has passed.',
  phases: ['after_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['follows_review'],
  create: ({ context }) => ({
    run: ({ task }) => {
      const passed = context.store.read.reviews.latest(task.id)?.status === 'passed'
      return passed ? { kind: 'ok' } : { kind: 'skipped', reason: 'review_not_passed' }
    },
  }),
}
