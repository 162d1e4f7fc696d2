import fc from 'fast-check'
import type { audiences } from '../../src-shared/contract/workflow-definition.ts'
import {
  hookPhases,
  WorkflowDefinition,
  type HookPhase,
  type StateHook,
} from '../../src-shared/contract/workflow-definition.ts'
import { probes } from './engine-rig.ts'
import type { State } from './model-types.ts'

type Kind = State['kind']

interface Shape {
  readonly kind: Kind
  readonly role: string | null
  readonly review: boolean
  readonly human: boolean
  readonly max_rejections: number | null
  readonly reject: number
  /** An earlier state that leads here, so that all can be reached. */
  readonly parent: number
  readonly more: readonly { readonly to: number; readonly audience: (typeof audiences)[number] }[]
  readonly hooks: readonly { readonly phase: HookPhase; readonly hook: HookShape }[]
}

interface HookShape {
  readonly action: string
  readonly audience: (typeof audiences)[number] | null
  readonly failure: 'none' | 'log' | number
  readonly success: number | null
}

/** Usually the default, sometimes any. */
export const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...others) })
/** Picks from a list by the remainder. */
export const index = fc.nat({ max: 9 })
const audience = mostly<(typeof audiences)[number]>('all', 'agent_only', 'user_only')

const hookShape: fc.Arbitrary<HookShape> = fc.record({
  action: fc.constantFrom(...Object.keys(probes), 'script-5', 'script-6', 'script-7', 'script-8'),
  audience: fc.oneof(fc.constant(null), audience),
  failure: fc.oneof(fc.constantFrom('none' as const, 'log' as const), index),
  success: fc.option(index),
})

const shape: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constantFrom<Kind>('active', 'active', 'active', 'gate', 'gate', 'gate', 'custom', 'backlog', 'terminal'),
  role: fc.constantFrom('coder', 'reviewer', null),
  review: fc.boolean(),
  human: mostly(false, true),
  max_rejections: fc.option(fc.nat({ max: 2 })),
  reject: index,
  parent: index,
  more: fc.array(fc.record({ to: index, audience }), { maxLength: 2 }),
  hooks: fc.array(fc.record({ phase: fc.constantFrom(...hookPhases), hook: hookShape }), { maxLength: 4 }),
})

/** A random valid workflow of four to eight states; the last two are terminal, the last one takes cancelled tasks. */
export const randomWorkflow: fc.Arbitrary<WorkflowDefinition> = fc
  .tuple(fc.array(shape, { minLength: 2, maxLength: 6 }), fc.boolean(), fc.boolean(), fc.boolean())
  .map(([shapes, hasBacklog, hasBlocked, named]) => build(shapes, { hasBacklog, hasBlocked, named }))

function build(
  shapes: readonly Shape[],
  options: { readonly hasBacklog: boolean; readonly hasBlocked: boolean; readonly named: boolean },
): WorkflowDefinition {
  const queue = options.hasBacklog ? 1 : 0
  const kinds = shapes.map((one, at): Kind => (at === queue ? 'initial' : at < queue ? 'backlog' : one.kind))
  const names = [...shapes.map((_, at) => `s${at}`), 'end', options.named ? 'dropped' : 'cancelled']
  const pick = (number: number) => names[number % names.length] ?? 'end'
  const ways = names.map((): State['transitions'] => [])
  const link = (from: number, to: number, how: (typeof audiences)[number]) => {
    const target = names[to] ?? 'end'
    const list = ways[from]
    if (list && !list.some((one) => one.to === target)) list.push({ to: target, label: target, audience: how })
  }
  const open = (before: number, wanted: number) => {
    const candidates = kinds.slice(0, before).flatMap((kind, at) => (kind === 'terminal' ? [] : [at]))
    return candidates[wanted % candidates.length] ?? 0
  }
  shapes.forEach((one, at) => {
    if (at > 0) link(at === queue ? 0 : open(at, one.parent), at, one.more[0]?.audience ?? 'all')
  })
  link(open(shapes.length, shapes[0]?.parent ?? 0), shapes.length, 'all')
  shapes.forEach((one, at) => {
    if (kinds[at] !== 'terminal') for (const { to, audience: how } of one.more) link(at, to % names.length, how)
  })
  const states = shapes.map((one, at) => stateOf(one, kinds[at] ?? 'custom', names[at] ?? '', ways[at] ?? [], pick))
  if (options.hasBlocked) states.push(blockedState(names[queue] ?? ''))
  const last = names.slice(-2).map((name) => ({ name, kind: 'terminal', column: 'C', label: name, transitions: [] }))
  if (options.hasBlocked) states[0]?.transitions.push({ to: 'blocked', label: 'blocked', audience: 'all' })
  return WorkflowDefinition.parse({
    roles: [
      { name: 'coder', label: 'Coder' },
      { name: 'reviewer', label: 'Reviewer' },
    ],
    states: [...states, ...last],
    initial_state: names[0],
    ...(options.named && { cancellation_state: 'dropped' }),
  })
}

function blockedState(queue: string): State {
  return {
    name: 'blocked',
    kind: 'custom',
    column: 'C',
    label: 'blocked',
    transitions: [{ to: queue, label: queue, audience: 'all' }],
    hooks: { on_enter: [{ plugin: 'publish_task_blocked' }] },
  }
}

function stateOf(
  one: Shape,
  kind: Kind,
  name: string,
  transitions: State['transitions'],
  pick: (number: number) => string,
): State {
  const hooks: Partial<Record<HookPhase, StateHook[]>> = {}
  const add = (phase: HookPhase, hook: StateHook) => (hooks[phase] ??= []).push(hook)
  if (kind === 'gate' && one.review) add('before_enter', { plugin: 'run_ci_steps' })
  if (kind === 'active' || (kind === 'gate' && one.role !== null)) add('on_enter', { plugin: 'dispatch_role_agent' })
  for (const { phase, hook } of one.hooks) add(phase, hookOf(phase, hook, pick))
  const role =
    kind === 'active'
      ? one.role === 'reviewer'
        ? null
        : one.role
      : kind === 'gate' && one.role !== null
        ? 'reviewer'
        : null
  return {
    name,
    kind,
    column: 'C',
    label: name,
    transitions,
    hooks,
    ...(role !== null && { role }),
    ...(kind === 'gate' && {
      gate_config: {
        requires_human_approval: one.human,
        reject_target: pick(one.reject),
        ...(one.max_rejections !== null && { max_rejections: one.max_rejections }),
      },
    }),
  }
}

function hookOf(phase: HookPhase, hook: HookShape, pick: (number: number) => string): StateHook {
  return {
    ...(hook.action.startsWith('script') ? { script: hook.action } : { plugin: hook.action }),
    ...(hook.audience !== null && { applies_to: hook.audience }),
    ...(phase !== 'before_exit' && typeof hook.failure === 'number' && { on_failure: { cascade: pick(hook.failure) } }),
    ...(phase !== 'before_exit' && hook.failure === 'log' && { on_failure: 'log' as const }),
    ...(phase === 'after_enter' && hook.success !== null && { on_success: { cascade: pick(hook.success) } }),
  }
}
