import { z } from 'zod'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Pushes the judged work and opens the task's pull request, or updates the open one. */
export const openPullRequest: PluginDefinition = {
  name: 'open_pull_request',
  purpose: 'Push the work and open a pull request.',
  phases: ['on_enter'],
  events: [],
  options: z.strictObject({ draft: z.boolean().optional() }),
  traits: [],
  create: ({ openPull }) => ({
    run: async ({ task, triggered_by, config, signal }) => {
      const draft = typeof config['draft'] === 'boolean' ? config['draft'] : null
      return await openPull(task.id, { draft, triggered_by }, signal)
    },
  }),
}

/**
 * Lets the task wait at its gate for the forge's merge. It does nothing itself: the wait is the state, so that it
 * outlasts a restart and holds up nothing.
 */
export const awaitPullRequest: PluginDefinition = {
  name: 'await_pull_request',
  purpose: 'Wait until the pull request is merged at the forge.',
  phases: ['after_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['awaits_pull_request'],
  create: ({ context }) => ({
    run: ({ task }) => {
      const pull = context.store.read.pull_requests.refOf(task.id)
      return { kind: 'ok', note: pull === null ? 'no pull request yet' : `waits for #${pull.number}` }
    },
  }),
}
