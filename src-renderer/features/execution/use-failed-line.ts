import { nextTick, watch, type Ref } from 'vue'
import { failedLine } from './failed-line.ts'
import type { TranscriptRow } from './transcript-rows.ts'

/** The log as it is drawn. */
interface DrawnLog {
  readonly box: Readonly<Ref<HTMLElement | null>>
  /** Whether it stays at its end. */
  readonly following: Readonly<Ref<boolean>>
  readonly rows: () => readonly TranscriptRow[]
  /** Shows a block of output whole. */
  readonly unfold: (block: number) => void
  /** Returns the index of a row among the drawn items. */
  readonly indexOf: (row: number) => number
  readonly scrollTo: (index: number) => void
  /** Stops following the end. */
  readonly leave: () => void
}

/** Opens the log of a failed run at the line that failed, unless that is in view at its end. */
export function useFailedLine(failed: () => boolean, log: DrawnLog): void {
  watch(failed, (has) => has && void scroll(), { immediate: true, flush: 'post' })
  async function scroll(): Promise<void> {
    const place = failedLine(log.rows())
    if (place === null || !log.following.value) return
    const row = log.rows()[place.row]
    if (row?.kind === 'output') log.unfold(row.block)
    await nextTick()
    const index = log.indexOf(place.row)
    const lineOf = () => {
      const element = log.box.value?.querySelector(`[data-index="${index}"]`)
      return element?.querySelectorAll('.ln')[place.line] ?? element ?? null
    }
    if (isInView(lineOf(), log.box.value)) return
    log.leave()
    // The row is drawn after the first scroll, so that its line can be found.
    log.scrollTo(index)
    log.box.value?.dispatchEvent(new Event('scroll'))
    await nextTick()
    lineOf()?.scrollIntoView({ block: 'center' })
  }
}

function isInView(element: Element | null, box: Element | null): boolean {
  const [inner, outer] = [element?.getBoundingClientRect(), box?.getBoundingClientRect()]
  return inner !== undefined && outer !== undefined && inner.top >= outer.top && inner.bottom <= outer.bottom
}
