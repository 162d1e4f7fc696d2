import { ref, type Ref } from 'vue'
import type { DiffAnnotation, DiffPosition } from '../../components/diff/diff-notes.ts'
import { useCommandHandlers } from '../../stores/commands.ts'

/** The component that shows the files. */
interface ShownDiff {
  scrollTo(path: string): void
  showPlace(at: DiffPosition): void
  stepChange(by: 1 | -1, path: string | null): void
  /** Opens the selected line in an editor, or copies its position. */
  show(place: DiffPosition | null, how: 'open' | 'copy'): void
  focus(): void
}

interface Ports {
  readonly view: Readonly<Ref<ShownDiff | null>>
  files(): readonly { readonly path: string }[]
  viewed(): ReadonlySet<string>
  mark(path: string, on: boolean): Promise<void>
  notes(): readonly DiffAnnotation[]
  /** Returns the keys of the notes with an unresolved thread. */
  open(): ReadonlySet<string>
  /** Returns whether the files are shown, and not the chapters, which have steps of their own. */
  isShown(): boolean
  /** Returns whether this machine has an editor. */
  opens(): boolean
}

/** Returns the steps from file to file, change to change and thread to thread, by keys and clicks. */
export function useFileSteps({ view, files, viewed, mark, notes, open: openNotes, isShown, opens }: Ports) {
  const current = ref<string | null>(null)
  /** The ID of the thread that was opened last. */
  let thread: string | null = null

  function open(path: string): void {
    current.value = path
    view.value?.scrollTo(path)
  }
  function step(by: 1 | -1): void {
    const all = files()
    const at = all.findIndex((file) => file.path === current.value)
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))]
    if (next) open(next.path)
  }
  /** Returns the file that shortcuts apply to: the current one, else the first. */
  const on = () => (isShown() ? (current.value ?? files()[0]?.path ?? null) : null)
  function toggleViewed(): void {
    const path = on()
    if (path === null) return
    const isViewed = viewed().has(path)
    void mark(path, !isViewed)
    if (!isViewed) goOn(path)
  }
  /** Opens the next file that isn't viewed; after the last, continues from the first. */
  function goOn(path: string): void {
    const all = files()
    const at = all.findIndex((file) => file.path === path)
    const next = [...all.slice(at + 1), ...all.slice(0, at)].find((file) => !viewed().has(file.path))
    if (next) open(next.path)
  }
  /** Focuses the line, so that Enter comments on it. */
  function stepChange(by: 1 | -1): void {
    view.value?.stepChange(by, on())
    view.value?.focus()
  }
  useCommandHandlers({
    'previous-file': { on, run: () => step(-1) },
    'next-file': { on, run: () => step(1) },
    'previous-change': { on, run: () => stepChange(-1) },
    'next-change': { on, run: () => stepChange(1) },
    'open-line': { on, run: () => view.value?.show(null, opens() ? 'open' : 'copy') },
    viewed: { on, run: toggleViewed },
  })
  return {
    /** The path of the current file. */
    current,
    open,
    /** Opens the next unresolved thread in file order. */
    nextThread(): void {
      const isOpen = openNotes()
      const ranks = new Map(files().map(({ path }, rank) => [path, rank]))
      const rank = ({ path }: DiffPosition) => ranks.get(path) ?? 0
      const placed = notes()
        .filter(({ key }) => isOpen.has(key))
        .toSorted((a, b) => rank(a) - rank(b) || a.line - b.line)
      const next = placed[(placed.findIndex(({ key }) => key === thread) + 1) % placed.length]
      if (!next) return
      thread = next.key
      current.value = next.path
      // One above the first line of its file is at the file's head.
      if (next.line === 0) view.value?.scrollTo(next.path)
      else view.value?.showPlace(next)
    },
  }
}
