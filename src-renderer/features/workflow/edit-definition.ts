import { z } from 'zod'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** A workflow as parsed from the text, including keys that the contract doesn't know. */
export type RawState = Readonly<Record<string, unknown>> & { readonly name: string }
export interface RawDefinition extends Readonly<Record<string, unknown>> {
  readonly states: readonly RawState[]
}

const Raw = z.looseObject({ states: z.array(z.looseObject({ name: z.string() })) })

/** Returns the parsed text; null if it is no JSON or has no states. */
export function readRaw(text: string): RawDefinition | null {
  const parsed = Raw.safeParse(parseJson(text))
  return parsed.success ? parsed.data : null
}

export const textOf = (definition: unknown): string => JSON.stringify(definition, null, 2)

/** Returns the definition with `change` merged into the state; undefined removes a key. */
export function withState(raw: RawDefinition, name: string, change: Readonly<Record<string, unknown>>): RawDefinition {
  return { ...raw, states: raw.states.map((state) => (state.name === name ? merged(state, change) : state)) }
}

/**
 * Returns the definition with the state renamed everywhere. `savedName` is the name that tasks
 * have; the service migrates them if the state records it.
 */
export function withName(raw: RawDefinition, name: string, next: string, savedName: string | null): RawDefinition {
  const renamed = raw.states.map((state) =>
    state.name === name
      ? merged(state, { name: next, renamed_from: savedName === null || savedName === next ? undefined : savedName })
      : state,
  )
  return mapNames({ ...raw, states: renamed }, (each) => (each === name ? next : each))
}

/** Returns the definition with a new state at the end, with a name that isn't taken. */
export function withNewState(raw: RawDefinition): { readonly raw: RawDefinition; readonly name: string } {
  const taken = new Set(raw.states.map((state) => state.name))
  let name = 'new_state'
  for (let number = 2; taken.has(name); number++) name = `new_state_${number}`
  const state = { name, kind: 'custom', column: 'New state', label: 'New state', transitions: [] }
  return { raw: { ...raw, states: [...raw.states, state] }, name }
}

/**
 * Returns the definition without the state and the transitions to it; other references remain for
 * the person to fix.
 */
export function withoutState(raw: RawDefinition, name: string): RawDefinition {
  return {
    ...raw,
    states: raw.states
      .filter((state) => state.name !== name)
      .map((state) => {
        const ways = transitionsOf(state)
        return ways.some(({ to }) => to === name)
          ? { ...state, transitions: ways.filter(({ to }) => to !== name) }
          : state
      }),
  }
}

export interface RawTransition extends Readonly<Record<string, unknown>> {
  readonly to: string
  readonly label: string
}

const Ways = z.array(z.looseObject({ to: z.string(), label: z.string().default('') }))

/** Returns the transitions of a state in order; none if they are invalid. */
export function transitionsOf(state: RawState): readonly RawTransition[] {
  return Ways.safeParse(state['transitions']).data ?? []
}

/** Returns the gate config of a state. */
export function gateOf(state: RawState): Readonly<Record<string, unknown>> {
  const gate = state['gate_config']
  return typeof gate === 'object' && gate !== null ? { ...gate } : {}
}

/** Returns the state with a field of the gate changed; removes the gate config if it becomes empty. */
export function withGate(
  state: RawState,
  change: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const gate = merged(gateOf(state), change)
  return { gate_config: Object.keys(gate).length === 0 ? undefined : gate }
}

function merged<T extends Readonly<Record<string, unknown>>>(value: T, change: Readonly<Record<string, unknown>>): T {
  const all = { ...value, ...change }
  return Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined)) as T
}

/** The keys of a definition that name states. */
const namingKeys = new Set(['to', 'reject_target', 'cascade', 'initial_state', 'cancellation_state'])

function mapNames<T>(value: T, rename: (name: string) => string): T {
  if (Array.isArray(value)) return value.map((each: unknown) => mapNames(each, rename)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      namingKeys.has(key) && typeof inner === 'string' ? rename(inner) : mapNames(inner, rename),
    ]),
  ) as T
}
