import type { ChapterHunk } from '../../model/chapters.ts'
import { useCommandHandlers } from '../../stores/commands.ts'
import type { Reading } from './use-reading.ts'

interface Ports {
  readonly place: Reading
  /** Returns the hunks of the open chapter in their order. */
  hunks(): readonly ChapterHunk[]
  isRead(hunk: ChapterHunk): boolean
  mark(hunks: readonly ChapterHunk[], on: boolean): Promise<void>
  /** Scrolls to the current hunk. */
  reveal(): Promise<void>
  unfold(): void
  openLine(): void
}

/** Registers the keys with which chapters are read. */
export function useChapterKeys({ place, hunks, isRead, mark, reveal, unfold, openLine }: Ports): void {
  const { chapter, hunk } = place
  const on = () => (chapter.value === null ? 'End' : chapter.value.title)
  /** Returns the hunk that keys apply to: the current one, else the first that isn't read, else the first. */
  function current(): ChapterHunk | null {
    const all = hunks()
    return all.find(({ id }) => id === hunk.value) ?? all.find((one) => !isRead(one)) ?? all[0] ?? null
  }
  function goToUnread(): void {
    if (place.goToUnread()) void reveal()
  }
  function toggleRead(): void {
    const one = current()
    if (one === null) return
    const wasRead = isRead(one)
    void mark([one], !wasRead)
    place.at(one.id)
    if (!wasRead) goToUnread()
  }
  function stepHunk(by: 1 | -1): void {
    if (place.stepHunk(by)) void reveal()
  }
  useCommandHandlers({
    'previous-file': { on, run: () => place.step(-1) },
    'next-file': { on, run: () => place.step(1) },
    'previous-change': { on, run: () => stepHunk(-1) },
    'next-change': { on, run: () => stepHunk(1) },
    'open-line': { on, run: openLine },
    viewed: { on, run: toggleRead },
    'next-unread': { on, run: goToUnread },
    unfold: { on: () => (chapter.value?.folded === true ? on() : null), run: unfold },
  })
}
