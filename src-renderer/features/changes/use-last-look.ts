import { onScopeDispose, shallowRef, watch } from 'vue'
import { useLooks } from './looks.ts'

/**
 * The commit at which the person left the changes of a task, where the branch has gone on since; null where it has not,
 * and at the first time.
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
    /** The head of the branch, as it is shown. */
    see(head: string | null): void {
      now.value = head
      if (head !== null) seen = { taskId: taskId(), head }
    },
    before: (): string | null => (now.value === null || before.value === now.value ? null : before.value),
  }
}
