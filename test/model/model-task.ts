import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'
import type { SeenEvent, SeenHook, Who } from './model-types.ts'

export interface ModelEntry {
  readonly from: string
  readonly to: string
  readonly by: Who
  readonly rejection: boolean
  readonly hooks: SeenHook[]
}

/** A requested move and its options. */
export interface Move {
  readonly to: string
  readonly by: Who
  readonly rejection?: boolean
  readonly depth?: number
  readonly annotation?: string
}

/** A pending phase, or the point between two. */
export type Point =
  | { readonly kind: 'hook'; readonly phase: HookPhase; readonly hook: StateHook }
  | { readonly kind: 'move' }
  | { readonly kind: 'barrier_down' }

/** The rest of a transition. Its entry joins the audit only once the source's hooks have allowed it. */
export interface Passage {
  readonly move: Move
  readonly entry: ModelEntry
  readonly points: Point[]
  /** An on_enter hook lacked what it needs, so the automatic cascade is skipped. */
  lacked: boolean
  /** A hook refused, and a person must decide. */
  held: boolean
}

/** The whole state of a task according to the rules. */
export interface ModelTask {
  state: string
  barrier: boolean
  version: number
  annotation: string | null
  readonly roles: Record<string, Who>
  readonly audit: ModelEntry[]
  review: 'running' | 'passed' | 'failed' | 'cancelled' | null
  execution: { readonly role: string; readonly who: Who } | null
  /** The rest of the last transition. */
  passage: Passage | null
  /** Counted rejections by gate. */
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
