import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation } from './diff-notes.ts'

/** How far beyond what is visible lines are drawn, in pixels. */
const AHEAD_PX = 900
/** The rest of it at which the next lines are drawn: three frames of a fast scroll. */
const REST_PX = 200
/** The rest of it at which the next lines are drawn while nothing is scrolled. */
const PAUSE_REST_PX = 600
/** Milliseconds without a scroll after which one has paused. */
const PAUSE_MS = 120

/**
 * Lets a viewer draw lines far ahead and seldom. Without it, a viewer draws the few lines that each frame of a scroll
 * needs, and for each the browser lays out, paints and rasters all lines of the window again: half of its work. Such a
 * drawing makes its frame late, so while a person reads it is made in the pauses of the scroll.
 */
export function drawAhead(view: CodeView<DiffAnnotation>): void {
  const draw = view.render.bind(view)
  let scrolled = false
  let pause: ReturnType<typeof setTimeout> | undefined
  const drawInPause = (): void => {
    const isGone = view.getContainerElement() === undefined
    if (!isGone && !isMoving(view) && !isDrawn(view, PAUSE_REST_PX)) draw()
  }
  // The viewer announces a scroll, and then asks to be drawn.
  view.subscribeToScroll(() => {
    scrolled = true
    // Not from the beginning, so that the first lines are seen as early as before.
    view.config.overscrollSize = AHEAD_PX
    clearTimeout(pause)
    pause = setTimeout(drawInPause, PAUSE_MS)
  })
  view.render = (immediate) => {
    const skipped = scrolled && immediate !== true && !isMoving(view) && isDrawn(view, REST_PX)
    scrolled = false
    if (!skipped) draw(immediate)
  }
}

/** Whether the viewer itself scrolls to a place, which takes several drawings. */
const isMoving = (view: CodeView<DiffAnnotation>): boolean => Reflect.get(view, 'pendingScrollTarget') !== undefined

/** Returns whether lines are drawn so many pixels beyond what is visible. */
function isDrawn(view: CodeView<DiffAnnotation>, rest: number): boolean {
  const top = view.getScrollTop()
  const bottom = top + view.getHeight()
  const drawn = view.getWindowSpecs()
  return (
    (drawn.top <= top - rest || drawn.top === 0) &&
    (drawn.bottom >= bottom + rest || drawn.bottom >= view.getScrollHeight())
  )
}
