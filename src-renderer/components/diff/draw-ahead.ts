import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation } from './diff-notes.ts'

/** How far beyond what is visible lines are drawn, in pixels. */
const AHEAD_PX = 900
/** The rest of it at which the next lines are drawn: three frames of a fast scroll. */
const REST_PX = 200

/**
 * Lets a viewer draw lines far ahead and seldom. Without it, a viewer draws the few lines that each frame of a scroll
 * needs, and for each the browser lays out, paints and rasters all lines of the window again: half of its work.
 */
export function drawAhead(view: CodeView<DiffAnnotation>): void {
  const draw = view.render.bind(view)
  let scrolled = false
  // The viewer announces a scroll, and then asks to be drawn.
  view.subscribeToScroll(() => {
    scrolled = true
    // Not from the beginning, so that the first lines are seen as early as before.
    view.config.overscrollSize = AHEAD_PX
  })
  view.render = (immediate) => {
    const skipped = scrolled && immediate !== true && !isMoving(view) && isDrawn(view)
    scrolled = false
    if (!skipped) draw(immediate)
  }
}

/** Whether the viewer itself scrolls to a place, which takes several drawings. */
const isMoving = (view: CodeView<DiffAnnotation>): boolean => Reflect.get(view, 'pendingScrollTarget') !== undefined

function isDrawn(view: CodeView<DiffAnnotation>): boolean {
  const top = view.getScrollTop()
  const bottom = top + view.getHeight()
  const drawn = view.getWindowSpecs()
  return (
    (drawn.top <= top - REST_PX || drawn.top === 0) &&
    (drawn.bottom >= bottom + REST_PX || drawn.bottom >= view.getScrollHeight())
  )
}
