import { z } from 'zod'
import { captureKnowledge } from '../knowledge.ts'
import type { Plugin, PluginServices } from './plugin.ts'

const Options = z.strictObject({ max_chars: z.int().min(200).max(50_000).default(4_000) })

/** Keeps what the task's worker said at the end, and what its gates sent it back for, for later tasks. */
export function knowledgeCapture({ context }: PluginServices): Plugin {
  return {
    name: 'knowledge-capture',
    phases: ['on_enter', 'after_enter'],
    options: Options,
    run: ({ task, project, workflow, config }) => {
      const skipped = captureKnowledge(context, { project, task, workflow }, Options.parse(config))
      return Promise.resolve(skipped === null ? { kind: 'ok' } : { kind: 'skipped', reason: skipped })
    },
  }
}
