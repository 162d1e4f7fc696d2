import { shallowRef } from 'vue'
import { errorSentence } from '../formatters/error-sentence.ts'
import { useToasts } from './toasts.ts'

/**
 * What a person asks for and waits for, one thing at a time: what is asked for meanwhile is not done. Both ways answer
 * whether it went well.
 */
export function useAsyncAction<What extends string = never>() {
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
    /** Which of several things is under way. */
    current,
    /** What went wrong, for a note in its place. */
    failure,
    /** Leaves in `failure` what went wrong. `explain`: in other words than the refusal's own. */
    run: (work: () => Promise<unknown>, explain: (error: unknown) => string = errorSentence): Promise<boolean> =>
      attempt(work, (error) => (failure.value = explain(error))),
    /** Fetches what is shown, and leaves in `failure` what went wrong: what a person asks for does not wait for it. */
    async load(work: () => Promise<unknown>): Promise<boolean> {
      try {
        await work()
        return true
      } catch (error) {
        failure.value = errorSentence(error)
        return false
      }
    },
    /** Says in a toast what went wrong, behind what did not happen: `The title was not saved.` */
    runWithToast(failed: string, work: () => Promise<unknown>, what: What | null = null): Promise<boolean> {
      if (!busy.value) current.value = what
      return attempt(work, (error) => toasts.refused(error, failed))
    },
  }
}
