import { onScopeDispose, readonly, ref, shallowRef, watch } from 'vue'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { useTranscriptStream, type TranscriptState } from './transcript-stream.ts'
import { createTranscriptRows, type TranscriptRow, type TranscriptTotals } from './transcript-rows.ts'

const nothing: TranscriptTotals = { tokens: 0, cost_usd: null }

/** Returns the live rows of an execution's transcript, updated once per frame. */
export function useTranscript(executionId: () => string | null) {
  const stream = useTranscriptStream()
  const rows = shallowRef<readonly TranscriptRow[]>([])
  const totals = shallowRef<TranscriptTotals>(nothing)
  const state = ref<TranscriptState>({ kind: 'connecting' })
  let stop: (() => void) | undefined

  function start(id: string): () => void {
    const builder = createTranscriptRows()
    const abort = new AbortController()
    let waiting: TranscriptEntry[] = []
    let cancelFlush: (() => void) | null = null

    const flush = () => {
      cancelFlush = null
      builder.append(waiting)
      waiting = []
      rows.value = builder.rows()
      totals.value = builder.totals()
    }
    const onEntry = (entry: TranscriptEntry) => {
      waiting.push(entry)
      cancelFlush ??= onNextFrame(flush)
    }
    const onState = (next: TranscriptState) => {
      // All rows are there before the end is told.
      if (next.kind === 'ended' && waiting.length > 0) {
        cancelFlush?.()
        flush()
      }
      if (!abort.signal.aborted) state.value = next
    }
    void stream.follow(id, { onEntry, onState }, abort.signal)
    return () => {
      abort.abort()
      cancelFlush?.()
    }
  }

  watch(
    executionId,
    (id) => {
      stop?.()
      stop = undefined
      rows.value = []
      totals.value = nothing
      state.value = { kind: 'connecting' }
      if (id !== null) stop = start(id)
    },
    { immediate: true },
  )
  onScopeDispose(() => stop?.())

  return { rows, totals, state: readonly(state) }
}

/** Runs in the next frame; on a hidden page by a timer, because it gets no frames. */
function onNextFrame(run: () => void): () => void {
  if (document.hidden) {
    const timer = setTimeout(run, 500)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(run)
  return () => cancelAnimationFrame(frame)
}
