import { onScopeDispose, shallowRef, watch } from 'vue'
import { useLooks } from './looks.ts'

/**
 * Returns the commit at which the user last viewed the task's diff if the branch has newer ones;
 * null otherwise and at the first visit.
 */
export function useLastLook(taskId: () => string) {
  const looks = useLooks()
  const before = shallowRef<string | null>(null)
  const now = shallowRef<string | null>(null)
  let seen: { readonly taskId: string; readonly head: string } | null = null
  const leave = () => {
    if (seen !== null) looks.note(seen.taskId, seen.head)
  }
  watch(
    taskId,
    (id) => {
      leave()
      seen = null
      now.value = null
      before.value = looks.headOf(id)
    },
    { immediate: true },
  )
  onScopeDispose(leave)
  return {
    /** Records the head of the branch that is shown. */
    see(head: string | null): void {
      now.value = head
      if (head !== null) seen = { taskId: taskId(), head }
    },
    before: (): string | null => (now.value === null || before.value === now.value ? null : before.value),
  }
}
