import type { SeenEvent, SeenHook, Who } from './model-types.ts'
import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'

export interface ModelEntry {
  readonly from: string
  readonly to: string
  readonly by: Who
  readonly rejection: boolean
  readonly hooks: SeenHook[]
}

/** A hook point that is still to come, or the moment between two of them. */
export type Point =
  { readonly kind: 'hook'; readonly phase: HookPhase; readonly hook: StateHook } | { readonly kind: 'barrier_down' }

/** What is left to do of a transition. */
export interface Passage {
  readonly entry: ModelEntry
  readonly depth: number
  readonly points: Point[]
  /** An on_enter hook lacked what it needs: the automatic way on is not taken. */
  lacked: boolean
}

/** The whole state of a task, as the rules know it. */
export interface ModelTask {
  state: string
  barrier: boolean
  version: number
  annotation: string | null
  readonly roles: Record<string, Who>
  readonly audit: ModelEntry[]
  review: 'running' | 'passed' | 'failed' | 'cancelled' | null
  execution: { readonly role: string; readonly who: Who } | null
  /** How the last execution in the present state ended. */
  ended: 'well' | 'badly' | null
  workspace: boolean
  /** What is left of the last transition. */
  passage: Passage | null
  /** Rejections of each gate that count. */
  readonly rejections: Map<string, number>
  events: SeenEvent[]
}

export function newTask(state: string): ModelTask {
  return {
    state,
    barrier: false,
    version: 1,
    annotation: null,
    roles: {},
    audit: [],
    review: null,
    execution: null,
    ended: null,
    workspace: false,
    passage: null,
    rejections: new Map(),
    events: [],
  }
}
