import { ref } from 'vue'
import { errorSentence } from '../../words/error-sentence.ts'

/** Something that a person asks for on a page: whether it is under way, and what became of it if it went wrong. */
export function useAttempt() {
  const busy = ref(false)
  const failure = ref<string | null>(null)

  /** Answers whether it went well. `explain`: other words for what went wrong. */
  async function run(work: () => Promise<void>, explain: (error: unknown) => string = errorSentence): Promise<boolean> {
    busy.value = true
    failure.value = null
    try {
      await work()
      return true
    } catch (error) {
      failure.value = explain(error)
      return false
    } finally {
      busy.value = false
    }
  }
  return { busy, failure, run }
}
