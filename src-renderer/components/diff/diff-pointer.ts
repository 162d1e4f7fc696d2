import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation, DiffPosition } from './diff-notes.ts'

/** Returns the line of the diff at an event; null outside the lines. `way`: the event's composed path. */
export function lineUnder(way: readonly EventTarget[], view: Pick<CodeView<DiffAnnotation>, 'getRenderedItems'>) {
  const elements = way.filter((target) => target instanceof HTMLElement)
  const row = elements.find(({ dataset }) => dataset['line'] !== undefined || dataset['columnNumber'] !== undefined)
  const item = view.getRenderedItems().find(({ element }) => elements.includes(element))
  if (!row || !item) return null
  const line = Number(row.dataset['line'] ?? row.dataset['columnNumber'])
  const isOld =
    row.dataset['lineType'] === 'change-deletion' || elements.some((element) => element.hasAttribute('data-deletions'))
  return Number.isSafeInteger(line)
    ? ({ path: item.id, side: isOld ? 'old' : 'new', line } satisfies DiffPosition)
    : null
}
