import { onScopeDispose, readonly, shallowRef, type Ref } from 'vue'

const now = shallowRef(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The current time in milliseconds, once a second: one clock for all, which stands still while nobody looks. */
export function useNow(): Readonly<Ref<number>> {
  users += 1
  if (users === 1) {
    now.value = Date.now()
    timer = setInterval(() => (now.value = Date.now()), 1_000)
  }
  onScopeDispose(() => {
    users -= 1
    if (users === 0) clearInterval(timer)
  })
  return readonly(now)
}
