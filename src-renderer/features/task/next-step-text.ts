import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { stateOf, hasTrait } from '../../model/workflow-shape.ts'
import { count } from '../../formatters/format-amounts.ts'

export interface NextFacts {
  readonly task: Task
  readonly workflow: WorkflowDefinition
  /** The active run. */
  readonly execution: Execution | null
  /** The newest attempt. */
  readonly review: Review | null
  /** The number of unfinished dependencies. */
  readonly waits: number
  readonly target: string
  /** The agent with the state's role; null for none or a person. */
  readonly agent: string | null
}

export interface Next {
  /** `you`: the task waits for a person. */
  readonly tone: 'you' | 'run' | 'neutral'
  readonly words: string
}

/** Returns the next step of the task and the state after it; null in a terminal state. */
export function nextStepText(facts: NextFacts): Next | null {
  const { task, workflow, execution, waits } = facts
  const state = stateOf(workflow, task.status)
  if (!state || state.kind === 'terminal') return null
  if (execution?.asks) return { tone: 'you', words: 'The agent is waiting for your answer.' }
  if (task.error_annotation) return { tone: 'you', words: 'It needs you. The note above says why.' }
  const then = afterwards(facts, state)
  switch (state.kind) {
    case 'backlog':
      return joined({ tone: 'neutral', words: 'It stays here until someone moves it.' }, then)
    case 'initial':
      if (waits > 0) return { tone: 'neutral', words: `It depends on ${count(waits, 'unfinished task')}.` }
      return joined({ tone: 'you', words: 'Start an agent, or do it yourself.' }, then)
    case 'active':
      return joined(work(facts), then)
    case 'gate':
      return judgement(facts, then)
    case 'custom':
      if (hasTrait(facts.workflow, state, 'merges'))
        return { tone: 'run', words: `Copse merges it into ${facts.target}.` }
      return joined({ tone: 'you', words: 'Move it to the next state.' }, then)
  }
}

function work({ execution, agent }: NextFacts): Next {
  if (execution?.status === 'running') return { tone: 'run', words: `${agent ?? 'Someone'} is working on it.` }
  if (execution) return { tone: 'neutral', words: `${agent ?? 'Someone'} is queued.` }
  return { tone: 'you', words: 'Start an agent, or move it.' }
}

/** Returns the next step at a gate: CI first, then the reviewer, then a person. */
function judgement({ review, execution, agent }: NextFacts, then: string): Next {
  const open = review?.status === 'cancelled' ? null : review
  const attempt = open ? `Attempt ${open.attempt_number}` : 'The task'
  const ok = open?.step_results.filter(({ exit_code }) => exit_code === 0).length ?? 0
  if (open && open.status !== 'passed' && ok < open.ci_steps.length) {
    const judge = agent === null ? 'you decide' : `${agent} reviews it`
    return { tone: 'run', words: `Running checks for attempt ${open.attempt_number}. If they pass, ${judge}.` }
  }
  if (execution && agent !== null) return joined({ tone: 'run', words: `${agent} is reviewing it.` }, then)
  const what = open?.status === 'passed' ? 'passed and is ready for you' : 'is waiting for your approval'
  return joined({ tone: 'you', words: `${attempt} ${what}.` }, then)
}

function afterwards({ workflow, target }: NextFacts, state: WorkflowState): string {
  const to = stateOf(workflow, state.transitions[0]?.to ?? '')
  if (!to) return ''
  return hasTrait(workflow, to, 'merges')
    ? `After that Copse merges it into ${target}.`
    : `After that it moves to ${to.label}.`
}

function joined({ tone, words }: Next, then: string): Next {
  return { tone, words: then === '' ? words : `${words} ${then}` }
}
