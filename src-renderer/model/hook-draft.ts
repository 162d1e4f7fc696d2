import {
  hookEvents,
  type HookEvent,
  type LifecycleHook,
  type LifecycleHooks,
} from '../../src-shared/contract/lifecycle-hooks.ts'

type Audience = LifecycleHook['applies_to']

/** A script while it is edited. Numbers are kept as typed. */
export interface ScriptDraft {
  readonly type: 'script'
  /** The hook's key, which stays the same when it is moved. */
  readonly key: string
  readonly command: string
  readonly timeout: string
  readonly blocking: boolean
  /** Exit codes, separated by commas. */
  readonly codes: string
  readonly applies_to: Audience
}

/**
 * A plugin while it is edited. `json`: the typed text of the options without a field; null unless
 * it is being edited.
 */
export interface PluginDraft {
  readonly type: 'plugin'
  readonly key: string
  readonly name: string
  readonly enabled: boolean
  readonly config: Readonly<Record<string, unknown>>
  readonly json: string | null
  readonly applies_to: Audience
}

export type HookDraft = ScriptDraft | PluginDraft
export type HooksDraft = Readonly<Record<HookEvent, readonly HookDraft[]>>

/** The fields of a hook that an edit changes. */
export type HookPatch = Partial<Omit<ScriptDraft, 'type' | 'key'>> | Partial<Omit<PluginDraft, 'type' | 'key'>>

let keys = 0
const nextKey = () => `hook-${++keys}`

export function newScript(event: HookEvent): ScriptDraft {
  const blocking = event === 'before_work'
  return { type: 'script', key: nextKey(), command: '', timeout: '30', blocking, codes: '0', applies_to: 'all' }
}

export function newPlugin(name: string): PluginDraft {
  return { type: 'plugin', key: nextKey(), name, enabled: true, config: {}, json: null, applies_to: 'all' }
}

/** Returns the draft of saved hooks, with a list for every event. */
export function draftOf(hooks: LifecycleHooks): HooksDraft {
  return mapEvents((event) => (hooks[event] ?? []).map(hookDraft))
}

function hookDraft(hook: LifecycleHook): HookDraft {
  if (hook.type === 'plugin')
    return { ...newPlugin(hook.name), enabled: hook.enabled, config: { ...hook.config }, applies_to: hook.applies_to }
  return {
    type: 'script',
    key: nextKey(),
    command: hook.command,
    timeout: String(hook.timeout_seconds),
    blocking: hook.blocking,
    codes: hook.success_exit_codes.join(', '),
    applies_to: hook.applies_to,
  }
}

/**
 * Returns the hooks of a draft, without events that have none. Invalid numbers become NaN, which no
 * operation accepts.
 */
export function hooksOf(draft: HooksDraft): LifecycleHooks {
  return Object.fromEntries(
    hookEvents.flatMap((event) => (draft[event].length === 0 ? [] : [[event, draft[event].map(hookOf)]])),
  )
}

export function hookOf(draft: HookDraft): LifecycleHook {
  if (draft.type === 'plugin') {
    const config = Object.keys(draft.config).length === 0 ? {} : { config: draft.config }
    return { type: 'plugin', name: draft.name, enabled: draft.enabled, ...config, applies_to: draft.applies_to }
  }
  return {
    type: 'script',
    command: draft.command.trim(),
    timeout_seconds: numberOf(draft.timeout),
    blocking: draft.blocking,
    success_exit_codes: codesOf(draft.codes),
    applies_to: draft.applies_to,
  }
}

export function codesOf(text: string): number[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  return parts.map(numberOf)
}

/** Parses a whole number. Returns NaN for any other text, including an empty one. */
export function numberOf(text: string): number {
  return /^-?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
}

/** Returns whether the drafts are equal apart from their keys. */
export function sameDraft(a: HooksDraft, b: HooksDraft): boolean {
  return JSON.stringify(withoutKeys(a)) === JSON.stringify(withoutKeys(b))
}

function withoutKeys(draft: HooksDraft): unknown {
  return mapEvents((event) => draft[event].map(({ key: _key, ...rest }) => rest))
}

/** Returns the draft with another list for one event. */
export function withList(draft: HooksDraft, event: HookEvent, list: readonly HookDraft[]): HooksDraft {
  return { ...draft, [event]: list }
}

/** Returns the list with the hook of `key` moved to index `to`, clamped to the list's length. */
export function movedTo(list: readonly HookDraft[], key: string, to: number): readonly HookDraft[] {
  const hook = list.find((each) => each.key === key)
  if (!hook) return list
  const rest = list.filter((each) => each.key !== key)
  const at = Math.min(Math.max(0, to), rest.length)
  return [...rest.slice(0, at), hook, ...rest.slice(at)]
}

/** Returns a copy of the hook with a new key. */
export function copyOf(hook: HookDraft): HookDraft {
  return { ...hook, key: nextKey() }
}

/** Returns a copy with new keys, which are unique only until the page reloads. */
export function rekeyed(draft: HooksDraft): HooksDraft {
  return mapEvents((event) => draft[event].map((hook) => ({ ...hook, key: nextKey() })))
}

function mapEvents<T>(list: (event: HookEvent) => T): Record<HookEvent, T> {
  return {
    before_work: list('before_work'),
    on_work_start: list('on_work_start'),
    on_work_stop: list('on_work_stop'),
    on_task_done: list('on_task_done'),
    on_task_cancel: list('on_task_cancel'),
  }
}
