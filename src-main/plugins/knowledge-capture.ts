import { z } from 'zod'
import { captureKnowledge } from '../executions/knowledge.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

const Options = z.strictObject({ max_chars: z.int().min(200).max(50_000).default(4_000) })

/** Stores the worker's final message and the gates' feedback as knowledge for later tasks. */
export const knowledgeCapture: PluginDefinition = {
  name: 'knowledge-capture',
  purpose: 'Keep what was learned from the task for later ones.',
  phases: ['on_enter', 'after_enter'],
  events: ['on_work_stop', 'on_task_done'],
  options: Options,
  traits: [],
  create: ({ context }) => ({
    run: ({ task, project, workflow, config }) => {
      const skipped = captureKnowledge(context, { project, task, workflow }, Options.parse(config))
      return skipped === null ? { kind: 'ok' } : { kind: 'skipped', reason: skipped }
    },
  }),
}
