import { z } from 'zod'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Starts the agent with the role of the entered state. */
export const dispatchRoleAgent: PluginDefinition = {
  name: 'dispatch_role_agent',
  purpose: 'Start the agent that has the role of the state.',
  phases: ['on_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['needs_worktree', 'dispatches'],
  create: ({ dispatch }) => ({
    run: ({ task }) => dispatch(task),
  }),
}
