import type { Ref } from 'vue'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { useAction } from '../../stores/query.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'
import type { Decision } from './decision-state.ts'

export interface DecisionContext {
  readonly decision: Readonly<Ref<Decision | null>>
  readonly feedback: Ref<string>
  readonly branch: Readonly<Ref<string>>
  readonly workflow: Readonly<Ref<WorkflowDefinition | undefined>>
}

/** Carries out what a person decided, one thing at a time. What was refused says why and keeps the feedback. */
export function useDecisionActions(taskId: () => string, context: DecisionContext) {
  const tasks = useTasks()
  const toasts = useToasts()
  const { current, runWithToast } = useAction<'advance' | 'approve' | 'reject'>()
  const { decision, feedback, branch, workflow } = context

  async function judge(verdict: 'pass' | 'fail'): Promise<void> {
    const text = feedback.value.trim()
    await tasks.verdict(taskId(), verdict, text === '' ? undefined : text)
    feedback.value = ''
  }
  const go = ({ merges, to }: Decision['advance']) =>
    merges ? tasks.merge(taskId(), to) : tasks.transition(taskId(), to)
  async function advance(): Promise<void> {
    const plan = decision.value?.advance
    const from = tasks.byId.get(taskId())?.status
    if (!plan) return
    if (plan.steps.includes('verdict')) await judge('pass')
    // A verdict may already move it on, where the workflow cascades.
    const stays = tasks.byId.get(taskId())?.status === from
    if (plan.steps.includes('transition') && stays) await go(plan)
    const now = stateOf(workflow.value, tasks.byId.get(taskId())?.status ?? '')
    if (plan.merges && now?.kind === 'terminal') toasts.done(`Merged into ${branch.value}.`)
  }

  return {
    busy: current,
    approve: () => runWithToast('It was not approved.', () => judge('pass'), 'approve'),
    reject: () => runWithToast('It was not sent back.', () => judge('fail'), 'reject'),
    advance: () => runWithToast('It did not go on.', advance, 'advance'),
  }
}
