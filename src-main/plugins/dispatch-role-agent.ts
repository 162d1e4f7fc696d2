import { z } from 'zod'
import type { Plugin, PluginServices } from '../hooks/plugin.ts'

/** Starts the agent that has the role of the entered state. */
export function dispatchRoleAgent({ dispatch }: PluginServices): Plugin {
  return {
    name: 'dispatch_role_agent',
    purpose: 'Start the agent that has the role of the state.',
    phases: ['on_enter'],
    events: [],
    options: z.strictObject({}),
    run: ({ task }) => dispatch(task),
  }
}
