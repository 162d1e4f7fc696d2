import fc from 'fast-check'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { graphOf, type Graph } from './model-graph.ts'
import type { ModelTask } from './model-task.ts'
import type { Answer, Trigger, Who } from './model-types.ts'
import { index, mostly } from './random-workflow.ts'

/** A trigger without the target of a transition, which depends on the task's state. */
type Wish =
  | Exclude<Trigger, { kind: 'transition' }>
  | {
      readonly kind: 'transition'
      readonly by: Who
      readonly stale: boolean
      readonly to: number
      readonly anywhere: boolean
    }

export interface RandomStep {
  readonly wish: Wish
  /** A request that would be refused is replaced by one that may succeed. */
  readonly apt: boolean
  /** The answers of the hooks and CI. */
  readonly answers: readonly Answer[]
}

const person = fc.constantFrom('user' as const, 'coder' as const, 'reviewer' as const)
const kind = <K extends string>(name: K) => fc.constant(name)

const wish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: kind('transition'),
      by: mostly<Who>('user', 'coder', 'reviewer', 'system'),
      stale: fc.nat({ max: 15 }).map((number) => number === 15),
      to: index,
      anywhere: fc.nat({ max: 7 }).map((number) => number === 7),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: kind('claim'), by: person }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: kind('verdict'),
      verdict: fc.constantFrom('pass' as const, 'fail' as const),
      by: person,
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: kind('execution_ends'), well: mostly(true, false) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('cancel'), by: fc.constantFrom('user' as const, 'coder' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind('assign'),
      role: fc.constantFrom('reviewer', 'reviewer', 'coder', 'assignee'),
      to: person,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('recover'),
      action: fc.constantFrom('retry_hook' as const, 'skip_hook_once' as const, 'retry_execution' as const),
    }),
  },
)

const said = fc.constantFrom<Answer>('ok', 'ok', 'ok', 'failed', 'failed', 'skipped', 'lacking')

/** Nine for the hooks, and one for CI, which has the most outcomes. */
const answers: fc.Arbitrary<readonly Answer[]> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(['ok'] as const) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.array(said, { minLength: 9, maxLength: 9 }), fc.constantFrom<Answer>('ok', 'failed'))
      .map(([hooks, ci]) => [...hooks, ci]),
  },
)

const steps = fc.array(fc.record({ wish, apt: mostly(true, false), answers }), {
  minLength: 1,
  maxLength: 16,
  size: 'max',
})

const withReviewer: RandomStep = {
  wish: { kind: 'assign', role: 'reviewer', to: 'reviewer' },
  apt: true,
  answers: ['ok'],
}

/** Half of the tasks have an agent for their gates from the start. */
export const randomSteps: fc.Arbitrary<readonly RandomStep[]> = fc
  .tuple(fc.boolean(), steps)
  .map(([hasReviewer, rest]) => (hasReviewer ? [withReviewer, ...rest] : rest))

/** The request for the task in its current state. */
export function triggerOf({ wish, apt }: RandomStep, definition: WorkflowDefinition, task: ModelTask): Trigger {
  const graph = graphOf(definition)
  const asked = apt ? aptWish(wish, graph, task) : wish
  if (asked.kind !== 'transition') return asked
  const { anywhere, ...move } = asked
  const declared = graph.state(task.state).transitions.map((one) => one.to)
  const targets = anywhere || declared.length === 0 ? definition.states.map((one) => one.name) : declared
  return { ...move, to: targets[move.to % targets.length] ?? task.state }
}

function aptWish(wish: Wish, graph: Graph, { state, annotation, execution, roles }: ModelTask): Wish {
  const { kind: here } = graph.state(state)
  const isGate = here === 'gate'
  const judge = roles['reviewer'] === 'coder' ? 'coder' : 'reviewer'
  const onward = { kind: 'transition', by: 'user', stale: false, to: 0, anywhere: false } as const
  switch (wish.kind) {
    case 'verdict':
      if (isGate) return { ...wish, by: wish.by === 'user' ? 'user' : judge }
      return execution ? { kind: 'execution_ends', well: wish.verdict === 'pass' } : { ...onward, by: wish.by }
    case 'execution_ends':
      if (execution) return wish
      return isGate ? { kind: 'verdict', verdict: 'fail', by: judge } : { ...onward, by: 'coder' }
    case 'claim': {
      if (isGate) return { kind: 'verdict', verdict: 'pass', by: judge }
      const leadsToWork = graph.ahead(state).some((name) => graph.state(name).kind === 'active')
      return here === 'active' || ((here === 'backlog' || here === 'initial') && leadsToWork) ? wish : onward
    }
    case 'recover': {
      if (annotation === null) return onward
      const retries = annotation === 'hook_failed' || wish.action === 'retry_execution'
      return retries ? wish : { ...wish, action: 'retry_execution' }
    }
    case 'transition':
    case 'cancel':
    case 'assign':
      return wish
  }
}

/** The answer of a hook: by the number at the end of its name, or CI's last answer. */
export const answerOf = (answers: readonly Answer[], action: string): Answer => {
  const number = Number(/-(\d)$/.exec(action)?.[1] ?? 9)
  return answers[number % answers.length] ?? 'ok'
}
