import { z } from 'zod'
import type { Plugin, PluginServices } from './plugin.ts'

/** Starts the agent that has the role of the entered state. */
export function dispatchRoleAgent({ dispatch }: PluginServices): Plugin {
  return {
    name: 'dispatch_role_agent',
    phases: ['on_enter'],
    options: z.strictObject({}),
    run: ({ task }) => dispatch(task),
  }
}
