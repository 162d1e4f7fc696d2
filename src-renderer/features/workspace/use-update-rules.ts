import { computed } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { coderRole, stateOf } from '../../model/workflow-shape.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { useLive } from '../../stores/live.ts'
import { usePeople } from '../../stores/people/people.ts'

/** Returns the agent that would get a conflict, and the reason why a branch can't be updated now. */
export function useUpdateRules(task: () => Task, workflow: () => WorkflowDefinition | undefined) {
  const executions = useExecutions()
  const people = usePeople()
  const live = useLive()
  const agent = computed<{ readonly name: string } | { readonly refusal: string }>(() => {
    const known = workflow()
    const role = known ? coderRole(known) : null
    const coder = role === null ? undefined : task().roles[role]
    if (!coder) return { refusal: 'No agent works on this task.' }
    return coder.type === 'agent'
      ? { name: people.face(coder).name }
      : { refusal: 'This task is assigned to a person, not an agent.' }
  })
  const refusal = computed(() => {
    if (live.refusal) return live.refusal
    const known = workflow()
    if (known && stateOf(known, task().status)?.kind === 'terminal') return 'The task is finished.'
    const running = executions.byId.get(task().active_execution_id ?? '')
    const works = task().active_execution_id !== null && running?.executor !== 'person'
    return works ? 'An agent is using the worktree. Wait, or stop it.' : null
  })
  return { agent, refusal }
}
