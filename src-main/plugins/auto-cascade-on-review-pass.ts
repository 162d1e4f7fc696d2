import { z } from 'zod'
import type { Plugin, PluginServices } from '../hooks/plugin.ts'

/** Succeeds when the latest review has passed; the hook's `on_success` names the state that follows, else it is the forward one. */
export function autoCascadeOnReviewPass({ context }: PluginServices): Plugin {
  return {
    name: 'auto_cascade_on_review_pass',
    purpose: 'Move a task on by itself when its review has passed.',
    phases: ['after_enter'],
    events: [],
    options: z.strictObject({}),
    run: ({ task }) => {
      const passed = context.store.read.reviews.latest(task.id)?.status === 'passed'
      return Promise.resolve(passed ? { kind: 'ok' } : { kind: 'skipped', reason: 'review_not_passed' })
    },
  }
}
