import { defineStore } from 'pinia'
import { reactive, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { errorSentence } from '../../formatters/error-sentence.ts'
import { useToasts, type TaskOfToast } from './toasts.ts'

export interface Query<T> {
  /** The newest reply; kept while the next one is loading. */
  readonly data: Readonly<ShallowRef<T | null>>
  readonly error: Readonly<ShallowRef<Error | null>>
  readonly loading: Readonly<Ref<boolean>>
  /** Requests the data again. If several requests overlap, only the last one counts. */
  reload(): Promise<void>
  /** Drops the data, before the query shows another subject. */
  clear(): void
}
/** The name of a query, then all values that its result depends on; null while nothing should be loaded. */
export type QueryKey = readonly [name: string, ...of: unknown[]] | null

/**
 * Loads data, and loads it again whenever `key` changes. Callers with the same key share one
 * pending request; `reload` always sends its own.
 */
export function useQuery<T>(load: () => Promise<T>, key?: () => QueryKey): Query<T> {
  const data = shallowRef<T | null>(null)
  const error = shallowRef<Error | null>(null)
  const loading = ref(false)
  let latest = 0

  async function fetch(request: () => Promise<T>): Promise<void> {
    const current = ++latest
    loading.value = true
    try {
      const answer = await request()
      if (current !== latest) return
      data.value = answer
      error.value = null
    } catch (thrown) {
      if (current === latest) error.value = thrown instanceof Error ? thrown : new Error(String(thrown))
    } finally {
      if (current === latest) loading.value = false
    }
  }
  function clear(): void {
    latest++
    data.value = null
    error.value = null
    loading.value = false
  }
  if (key) {
    const requests = useRequests()
    const text = () => {
      const now = key()
      return now && JSON.stringify(now)
    }
    watch(text, (now) => (now === null ? clear() : void fetch(() => requests.share(now, load))), { immediate: true })
  }
  return { data, error, loading, reload: () => fetch(load), clear }
}

/** Pending requests by key: a second caller with the same key gets the first one's promise. */
export const useRequests = defineStore('requests', () => {
  const pending = new Map<string, Promise<unknown>>()
  return {
    async share<T>(key: string, work: () => Promise<T>): Promise<T> {
      const shared = (pending.get(key) as Promise<T> | undefined) ?? work()
      pending.set(key, shared)
      try {
        return await shared
      } finally {
        if (pending.get(key) === shared) pending.delete(key)
      }
    },
    /** Stops sharing of pending requests, after events were missed or another user has signed in. */
    forget: () => pending.clear(),
  }
})

/** A part of a task that is loaded only while it is shown. */
export type TaskResource = 'workspace' | 'timeline' | 'files' | 'hooks' | 'chapters'

/** Counts the changes of each resource; a query that shows one has the count in its key. */
export const useTaskInvalidation = defineStore('task-invalidation', () => {
  const changes = reactive(new Map<string, number>())
  const keyOf = (taskId: string, what: TaskResource): string => `${what} ${taskId}`
  return {
    changed: (taskId: string, what: TaskResource): void => {
      const key = keyOf(taskId, what)
      changes.set(key, (changes.get(key) ?? 0) + 1)
    },
    /** Counts the changes of this resource across all tasks. */
    changesAnywhere: (what: TaskResource): number =>
      [...changes].reduce((sum, [key, times]) => (key.startsWith(`${what} `) ? sum + times : sum), 0),
    changesOf: (taskId: string, what: TaskResource): number => changes.get(keyOf(taskId, what)) ?? 0,
  }
})

/**
 * Runs a user's actions one at a time: while one runs, `run` and `runWithToast` do nothing and return false. Both return
 * whether the action succeeded.
 */
export function useAction<What extends string = never>() {
  const toasts = useToasts()
  const busy = shallowRef(false)
  const current = shallowRef<What | null>(null)
  const failure = shallowRef<string | null>(null)

  async function attempt(work: () => Promise<unknown>, fail: (error: unknown) => void): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    failure.value = null
    try {
      await work()
      return true
    } catch (error) {
      fail(error)
      return false
    } finally {
      busy.value = false
      current.value = null
    }
  }
  return {
    busy,
    /** The name of the running action. */
    current,
    /** The sentence of the last failure, to show beside the control. */
    failure,
    /** Runs an action and stores its failure in `failure`. `explain` replaces the refusal's own sentence. */
    run: (work: () => Promise<unknown>, explain: (error: unknown) => string = errorSentence): Promise<boolean> =>
      attempt(work, (error) => (failure.value = explain(error))),
    /** Loads data and stores a failure in `failure`. Doesn't set `busy`, so a user's action need not wait for it. */
    async load(work: () => Promise<unknown>): Promise<boolean> {
      try {
        await work()
        return true
      } catch (error) {
        failure.value = errorSentence(error)
        return false
      }
    },
    /** Runs an action and shows a failure in a toast, after the sentence `failed`: `The title was not saved.` */
    async runWithToast(failed: string, work: () => Promise<unknown>, what: What | null = null): Promise<boolean> {
      if (!busy.value) current.value = what
      const succeeded = await attempt(work, (error) => toasts.refused(error, failed))
      if (succeeded) toasts.succeeded(failed)
      return succeeded
    },
    /** Like `runWithToast`, for a task. The toast names the task. */
    async runOn(
      task: TaskOfToast,
      failed: string,
      work: () => Promise<unknown>,
      what: What | null = null,
    ): Promise<boolean> {
      if (!busy.value) current.value = what
      const succeeded = await attempt(work, (error) => toasts.refusedOn(task, error, failed))
      if (succeeded) toasts.succeeded(task.id)
      return succeeded
    },
  }
}
