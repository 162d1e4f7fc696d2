import { z } from 'zod'
import type { CleanupEnd } from '../workspaces/cleanup.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'

/** Removes the task's worktree, never its branch, instead of the state's own clean-up. */
export const cleanupWorkspaceNow: PluginDefinition = {
  name: 'cleanup_workspace_now',
  purpose: 'Remove the worktree immediately. Uncommitted changes are kept in a snapshot.',
  phases: ['on_enter', 'after_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['owns_cleanup'],
  create: ({ cleanup }) => ({
    run: async ({ task, signal }) => toResult(await cleanup.now(task, signal)),
  }),
}

/** A failed clean-up leaves the task in its state; the workspace record has the error. */
export function toResult(end: CleanupEnd): PluginResult {
  switch (end.kind) {
    case 'cleaned':
      return { kind: 'ok' }
    case 'scheduled':
      return { kind: 'ok', note: `due at ${end.cleanup_at}` }
    case 'failed':
      return { kind: 'failed', reason: end.message }
    case 'nothing':
      return { kind: 'skipped', reason: end.reason }
  }
}
