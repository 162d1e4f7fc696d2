import fc from 'fast-check'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { ModelTask } from './model-task.ts'
import type { Answer, Trigger, Who } from './model-types.ts'
import { index, mostly } from './random-workflow.ts'

/** A trigger, but for where a transition goes: that is found once the task's state is known. */
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
  /** A wish that could only be refused makes room for one that may be granted. */
  readonly apt: boolean
  /** What the hooks and CI answer meanwhile. */
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

const said = mostly<Answer>('ok', 'failed', 'failed', 'skipped', 'lacking')

/** Nine for the hooks, and one for CI, which has most to say. */
const answers: fc.Arbitrary<readonly Answer[]> = fc.oneof(
  fc.constant(['ok'] as const),
  fc
    .tuple(fc.array(said, { minLength: 9, maxLength: 9 }), fc.constantFrom<Answer>('ok', 'failed'))
    .map(([hooks, ci]) => [...hooks, ci]),
)

export const randomSteps: fc.Arbitrary<readonly RandomStep[]> = fc.array(
  fc.record({ wish, apt: mostly(true, false), answers }),
  { minLength: 1, maxLength: 16, size: 'max' },
)

/** What is asked of the task, as it stands by now. */
export function triggerOf({ wish, apt }: RandomStep, { states }: WorkflowDefinition, task: ModelTask): Trigger {
  const state = states.find((one) => one.name === task.state)
  const asked = apt ? aptWish(wish, task, state?.kind === 'gate') : wish
  if (asked.kind !== 'transition') return asked
  const { anywhere, ...move } = asked
  const declared = state?.transitions ?? []
  const targets = anywhere || declared.length === 0 ? states.map((one) => one.name) : declared.map((one) => one.to)
  return { ...move, to: targets[move.to % targets.length] ?? task.state }
}

function aptWish(wish: Wish, { annotation, execution }: ModelTask, isAtGate: boolean): Wish {
  const onward = { kind: 'transition', by: 'user', stale: false, to: 0, anywhere: false } as const
  switch (wish.kind) {
    case 'verdict':
      if (isAtGate) return wish
      return execution ? { kind: 'execution_ends', well: wish.verdict === 'pass' } : { ...onward, by: wish.by }
    case 'execution_ends':
      if (execution) return wish
      return isAtGate ? { kind: 'verdict', verdict: 'fail', by: 'reviewer' } : { kind: 'claim', by: 'coder' }
    case 'claim':
      return isAtGate ? { kind: 'verdict', verdict: 'pass', by: wish.by } : wish
    case 'recover':
      if (annotation === null) return onward
      return annotation === 'hook_failed' || wish.action === 'retry_execution'
        ? wish
        : { ...wish, action: 'retry_execution' }
    case 'transition':
    case 'cancel':
    case 'assign':
      return wish
  }
}

/** What a hook answers: one whose name ends in a number by that number, CI by the last answer. */
export const answerOf = (answers: readonly Answer[], action: string): Answer => {
  const number = Number(/-(\d)$/.exec(action)?.[1] ?? 9)
  return answers[number % answers.length] ?? 'ok'
}
