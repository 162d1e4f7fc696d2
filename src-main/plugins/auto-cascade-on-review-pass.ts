import { z } from 'zod'
import { cascadeWaitsForStack, waitsForStack } from '../core/stack-of.ts'
import { waitsForPerson } from '../domain/review/empty-work.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Succeeds if the latest review has passed. The next state is the hook's `on_success`, else the forward one. */
export const autoCascadeOnReviewPass: PluginDefinition = {
  name: 'auto_cascade_on_review_pass',
  purpose: 'Move a task on automatically when its review has passed.',
  phases: ['after_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['follows_review'],
  create: ({ context }) => ({
    run: ({ task, workflow }) => {
      const { read } = context.store
      const review = read.reviews.latest(task.id)
      const passed = review?.status === 'passed'
      if (passed && waitsForPerson(task, review)) return { kind: 'skipped', reason: 'empty_work' }
      if (passed && cascadeWaitsForStack(read, workflow, task)) return { kind: 'skipped', reason: waitsForStack }
      return passed ? { kind: 'ok' } : { kind: 'skipped', reason: 'review_not_passed' }
    },
  }),
}
