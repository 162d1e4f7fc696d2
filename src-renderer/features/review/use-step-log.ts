import { useTimeoutFn } from '@vueuse/core'
import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { StepResult } from '../../../src-shared/contract/reviews.ts'
import { useTaskDetails } from '../../stores/review/task-details.ts'
import { errorSentence } from '../../formatters/error-sentence.ts'

/** Polling interval in milliseconds: the log of a running step has no events. */
const pollMs = 1_000

/**
 * Returns the output of a CI step. Shows the tail from the review; `readAll` loads the full log.
 * While the step runs and `watched` returns true, polls for new output.
 */
export function useStepLog(taskId: () => string, step: () => StepResult, watched: () => boolean) {
  const details = useTaskDetails()
  const text = shallowRef<string | null>(null)
  const failure = ref<string | null>(null)
  const reading = ref(false)
  let offset = 0
  const { start, stop } = useTimeoutFn(() => void grow(), pollMs, { immediate: false })
  let closed = false

  async function read(): Promise<void> {
    if (reading.value) return
    reading.value = true
    try {
      const piece = await details.readLog(taskId(), step().log_name, offset)
      offset = piece.next_offset
      text.value = (text.value ?? '') + piece.text
      failure.value = null
    } catch (error) {
      failure.value = errorSentence(error)
    } finally {
      reading.value = false
    }
  }
  async function grow(): Promise<void> {
    await read()
    if (!closed && watched() && step().exit_code === null) start()
  }

  watch(
    () => watched() && step().exit_code === null,
    (grows, grew) => {
      stop()
      if (grows) void grow()
      // Load the output between the last poll and the end.
      else if (grew && watched()) void read()
    },
    { immediate: true },
  )
  onScopeDispose(() => void (closed = true))
  return { text, failure, reading, readAll: read }
}
