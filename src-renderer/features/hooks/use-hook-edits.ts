import { ref, type Ref, type ShallowRef } from 'vue'
import type { HookEvent } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { copyOf, movedTo, withList, type HookDraft, type HookPatch, type HooksDraft } from '../../model/hook-draft.ts'
import { useToasts } from '../../stores/base/toasts.ts'

/** The edits of a draft's lists. */
export interface HookEdits {
  /** The key of the hook whose fields are shown. */
  readonly open: Ref<string | null>
  /** The text announced to screen readers. */
  readonly announcement: Readonly<Ref<string>>
  readonly add: (event: HookEvent, hook: HookDraft) => void
  readonly change: (event: HookEvent, key: string, patch: HookPatch) => void
  readonly copy: (event: HookEvent, hook: HookDraft) => void
  /** Moves a hook to an index of its event. */
  readonly move: (event: HookEvent, key: string, to: number) => void
  /** Removes a hook, with undo. */
  readonly remove: (event: HookEvent, hook: HookDraft) => void
}

/** Returns the edits of a draft's lists. */
export function useHookEdits(draft: ShallowRef<HooksDraft | null>): HookEdits {
  const toasts = useToasts()
  const open = ref<string | null>(null)
  const announcement = ref('')

  function edit(event: HookEvent, change: (list: readonly HookDraft[]) => readonly HookDraft[]): void {
    if (draft.value) draft.value = withList(draft.value, event, change(draft.value[event]))
  }
  const put = (event: HookEvent, hook: HookDraft, at?: number) =>
    edit(event, (list) => (at === undefined ? [...list, hook] : [...list.slice(0, at), hook, ...list.slice(at)]))

  return {
    open,
    announcement,
    add(event: HookEvent, hook: HookDraft): void {
      put(event, hook)
      open.value = hook.key
    },
    change: (event: HookEvent, key: string, patch: HookPatch): void =>
      edit(event, (list) => list.map((hook) => (hook.key === key ? ({ ...hook, ...patch } as HookDraft) : hook))),
    copy(event: HookEvent, hook: HookDraft): void {
      const at = draft.value?.[event].indexOf(hook) ?? -1
      const copied = copyOf(hook)
      put(event, copied, at + 1)
      open.value = copied.key
    },
    move(event: HookEvent, key: string, to: number): void {
      edit(event, (list) => movedTo(list, key, to))
      const list = draft.value?.[event] ?? []
      announcement.value = `Now ${list.findIndex((hook) => hook.key === key) + 1} of ${list.length}.`
    },
    remove(event: HookEvent, hook: HookDraft): void {
      const at = draft.value?.[event].indexOf(hook) ?? -1
      if (at < 0) return
      edit(event, (list) => list.filter((each) => each !== hook))
      if (open.value === hook.key) open.value = null
      toasts.done('Hook removed.', { label: 'Undo', run: () => put(event, hook, at) })
    },
  }
}
