import { z } from 'zod'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { countRejections } from '../transitions/count-rejections.ts'
import { reviewLimitReached } from '../transitions/block-task.ts'
import type { PluginContext, PluginDefinition } from '../hooks/plugin.ts'

const Options = z.strictObject({
  gate: z.string().min(1).max(64).optional(),
  max_rejections: z.int().min(0).max(1_000).optional(),
})

/**
 * Blocks the task for a person once a gate has rejected it more often than its limit allows. The gate is the
 * option's, else the entered state, else the state that the task came from; the limit is the option's, else the
 * gate's. Rejections before a person's last action do not count.
 */
export const checkRetryBudget: PluginDefinition = {
  name: 'check_retry_budget',
  purpose: 'Hand a task to a person when its gate has sent it back too often.',
  phases: ['before_enter', 'on_enter'],
  events: [],
  options: Options,
  traits: [],
  create: ({ context }) => ({
    run: (moment) => {
      const { task, config } = moment
      const options = Options.parse(config)
      const gate = gateOf(moment, options.gate)
      if (typeof gate === 'string') return { kind: 'failed', reason: `The workflow has no gate ${gate}.` }
      const budget = options.max_rejections ?? gate?.gate_config?.max_rejections
      if (!gate || budget === undefined) return { kind: 'skipped', reason: 'not_needed' }
      const { transitions } = context.store.read
      const rejections = countRejections(context.store.read, moment.workflow, task, gate)
      if (rejections <= budget) return { kind: 'ok', note: `${rejections} of ${budget} failed reviews` }
      const feedback = transitions
        .byTask(task.id)
        .findLast((entry) => entry.rejection && entry.from_state === gate.name)
      const reason = feedback?.trigger_reason?.slice(0, 10_000)
      const annotation = { ...reviewLimitReached(gate, rejections), ...(reason !== undefined && { reason }) }
      return { kind: 'escalate', annotation }
    },
  }),
}

/** Returns the gate, the name of a gate that does not exist, or null if no gate is concerned. */
function gateOf({ workflow, state, from }: PluginContext, wanted: string | undefined): WorkflowState | string | null {
  if (wanted !== undefined) {
    const named = workflow.states.get(wanted)
    return named?.kind === 'gate' ? named : wanted
  }
  const near = state.kind === 'gate' ? state : workflow.states.get(from)
  return near?.kind === 'gate' ? near : null
}
