import { injectKnowledge, KnowledgeOptions } from '../executions/knowledge.ts'
import type { PluginDefinition } from '../hooks/plugin.ts'

/** Injects the project's knowledge relevant to the task for its next agents, within a budget. */
export const knowledgeInject: PluginDefinition = {
  name: 'knowledge-inject',
  purpose: "Add the project's knowledge that matches the task to the prompt.",
  phases: ['before_enter', 'on_enter'],
  events: ['before_work'],
  options: KnowledgeOptions,
  traits: ['injects_knowledge'],
  create: ({ context }) => ({
    run: ({ task, project, config }) => {
      const told = injectKnowledge(context, project, task, KnowledgeOptions.parse(config))
      if (typeof told === 'string') return { kind: 'skipped', reason: told }
      return {
        kind: 'ok',
        note: `${told.entries} ${told.entries === 1 ? 'entry' : 'entries'}, about ${told.tokens} tokens`,
      }
    },
  }),
}
