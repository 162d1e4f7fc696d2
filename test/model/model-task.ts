import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'
import type { SeenEvent, SeenHook, Who } from './model-types.ts'

export interface ModelEntry {
  readonly from: string
  readonly to: string
  readonly by: Who
  readonly rejection: boolean
  readonly hooks: SeenHook[]
}

/** A move that is wanted, and what comes with it. */
export interface Move {
  readonly to: string
  readonly by: Who
  readonly rejection?: boolean
  readonly depth?: number
  readonly annotation?: string
}

/** A hook point that is still to come, or the moment between two of them. */
export type Point =
  | { readonly kind: 'hook'; readonly phase: HookPhase; readonly hook: StateHook }
  | { readonly kind: 'move' }
  | { readonly kind: 'barrier_down' }

/** What is left to do of a transition. Before its source's hooks have allowed it, its entry is not in the audit. */
export interface Passage {
  readonly move: Move
  readonly entry: ModelEntry
  readonly points: Point[]
  /** An on_enter hook lacked what it needs: the automatic way on is not taken. */
  lacked: boolean
  /** A hook said no: nothing goes on until somebody says how. */
  held: boolean
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
    passage: null,
    rejections: new Map(),
    events: [],
  }
}
