import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'

export interface Resource<T> {
  /** The newest answer; kept while the next one is on its way. */
  readonly data: Readonly<ShallowRef<T | null>>
  readonly error: Readonly<ShallowRef<Error | null>>
  readonly loading: Readonly<Ref<boolean>>
  /** Asks again. When several are on their way, only the last one's answer counts. */
  reload(): Promise<void>
  /** Forgets the value, for when it is another thing's turn. */
  clear(): void
}

/** Something that is fetched, shown, and fetched again when events say that it changed. */
export function useResource<T>(load: () => Promise<T>): Resource<T> {
  const data = shallowRef<T | null>(null)
  const error = shallowRef<Error | null>(null)
  const loading = ref(false)
  let turn = 0

  async function reload(): Promise<void> {
    const mine = ++turn
    loading.value = true
    try {
      const answer = await load()
      if (mine !== turn) return
      data.value = answer
      error.value = null
    } catch (thrown) {
      if (mine === turn) error.value = thrown instanceof Error ? thrown : new Error(String(thrown))
    } finally {
      if (mine === turn) loading.value = false
    }
  }

  return {
    data,
    error,
    loading,
    reload,
    clear: () => {
      turn++
      data.value = null
      error.value = null
      loading.value = false
    },
  }
}
