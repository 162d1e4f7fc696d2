import { z } from 'zod'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** A workflow as it stands in the text: what the contract knows of it, and whatever else is in it. */
export type RawState = Readonly<Record<string, unknown>> & { readonly name: string }
export interface RawDefinition extends Readonly<Record<string, unknown>> {
  readonly states: readonly RawState[]
}

const Raw = z.looseObject({ states: z.array(z.looseObject({ name: z.string() })) })

/** What the text says, as far as it can be drawn; null while it is no JSON or has no states. */
export function readRaw(text: string): RawDefinition | null {
  const parsed = Raw.safeParse(parseJson(text))
  return parsed.success ? parsed.data : null
}

export const textOf = (definition: unknown): string => JSON.stringify(definition, null, 2)

/** The state with `name` changed; a key that is undefined is left out. */
export function withState(raw: RawDefinition, name: string, change: Readonly<Record<string, unknown>>): RawDefinition {
  return { ...raw, states: raw.states.map((state) => (state.name === name ? merged(state, change) : state)) }
}

/**
 * The state called anew, wherever it is named. `savedName` is what tasks know it by: the service moves them along when
 * the state says so.
 */
export function withName(raw: RawDefinition, name: string, next: string, savedName: string | null): RawDefinition {
  const renamed = raw.states.map((state) =>
    state.name === name
      ? merged(state, { name: next, renamed_from: savedName === null || savedName === next ? undefined : savedName })
      : state,
  )
  return mapNames({ ...raw, states: renamed }, (each) => (each === name ? next : each))
}

/** A new state at the end, under a name that is free. */
export function withNewState(raw: RawDefinition): { readonly raw: RawDefinition; readonly name: string } {
  const taken = new Set(raw.states.map((state) => state.name))
  let name = 'new_state'
  for (let number = 2; taken.has(name); number++) name = `new_state_${number}`
  const state = { name, kind: 'custom', column: 'New state', label: 'New state', transitions: [] }
  return { raw: { ...raw, states: [...raw.states, state] }, name }
}

/** Without the state, and without the transitions that led to it; what else names it is for the person to mend. */
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

/** The transitions of a state in their order; none while they can't be read. */
export function transitionsOf(state: RawState): readonly RawTransition[] {
  return Ways.safeParse(state['transitions']).data ?? []
}

/** What a state calls back to when its work is turned down. */
export function gateOf(state: RawState): Readonly<Record<string, unknown>> {
  const gate = state['gate_config']
  return typeof gate === 'object' && gate !== null ? { ...gate } : {}
}

/** With a field of the gate changed; without the gate once nothing is left in it. */
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

/** The places at which a definition names its states. */
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
