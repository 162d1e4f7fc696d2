import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation } from './diff-notes.ts'

/** How far lines are drawn in the direction of the last scroll, and behind it, in pixels. */
const AHEAD_PX = 1300
const BEHIND_PX = 300
/** The viewer's own setting: how far lines are drawn above and below what is visible. */
const REACH_PX = (AHEAD_PX + BEHIND_PX) / 2
/** The rest ahead at which the next lines are drawn: eight frames of a fast scroll, of which a drawing takes two to six. */
const REST_PX = 500
/** The rest ahead at which the next lines are drawn while nothing is scrolled. */
const PAUSE_REST_PX = 900
/** Milliseconds without a scroll after which one has paused. */
const PAUSE_MS = 120

/**
 * Lets a viewer draw lines far ahead and seldom. Without it, a viewer draws the few lines that each frame of a scroll
 * needs, and for each the browser lays out, paints and rasters all lines of the window again: half of its work. Such a
 * drawing makes its frame late, so while a person reads it is made in the pauses of the scroll.
 */
export function drawAhead(view: CodeView<DiffAnnotation>): void {
  const draw = view.render.bind(view)
  let top = view.getScrollTop()
  let isDown = true
  let scrolled = false
  let pause: ReturnType<typeof setTimeout> | undefined
  const drawInPause = (): void => {
    // Not from the beginning, so that the first lines are seen as early as before.
    view.config.overscrollSize = REACH_PX
    const isGone = view.getContainerElement() === undefined
    if (!isGone && !isMoving(view) && !isDrawn(view, isDown, PAUSE_REST_PX)) draw()
  }
  const waitForPause = (): void => {
    clearTimeout(pause)
    pause = setTimeout(drawInPause, PAUSE_MS)
  }
  // The viewer announces a scroll, and then asks to be drawn.
  view.subscribeToScroll(() => {
    const now = view.getScrollTop()
    if (now !== top) isDown = now > top
    top = now
    scrolled = true
    view.config.overscrollSize = REACH_PX
    waitForPause()
  })
  view.render = (immediate) => {
    const skipped = scrolled && immediate !== true && !isMoving(view) && isDrawn(view, isDown, REST_PX)
    scrolled = false
    if (skipped) return
    draw(immediate)
    waitForPause()
  }
  leanWindow(view, () => isDown)
}

/** Has the window of drawn lines reach ahead of a scroll, where the viewer's reaches as far to either side. */
function leanWindow(view: CodeView<DiffAnnotation>, isDown: () => boolean): void {
  let drawn = view.getWindowSpecs()
  Object.defineProperty(view, 'windowSpecs', {
    get: () => drawn,
    set: (next: typeof drawn) => {
      // A jump draws only what is visible first.
      const isWhole = next.bottom - next.top >= Math.min(view.getHeight() + REACH_PX, view.getScrollHeight())
      drawn = isWhole && view.config.overscrollSize === REACH_PX && !isMoving(view) ? lean(view, isDown()) : next
    },
  })
}

function lean(view: CodeView<DiffAnnotation>, isDown: boolean): { top: number; bottom: number } {
  const [above, below] = isDown ? [BEHIND_PX, AHEAD_PX] : [AHEAD_PX, BEHIND_PX]
  const top = view.getScrollTop()
  return {
    top: Math.max(0, Math.floor(top - above)),
    bottom: Math.min(view.getScrollHeight(), Math.ceil(top + view.getHeight() + below)),
  }
}

/** Whether the viewer itself scrolls to a place, which takes several drawings. */
const isMoving = (view: CodeView<DiffAnnotation>): boolean => Reflect.get(view, 'pendingScrollTarget') !== undefined

/** Returns whether lines are drawn so many pixels ahead of what is visible. */
function isDrawn(view: CodeView<DiffAnnotation>, isDown: boolean, rest: number): boolean {
  const [above, below] = isDown ? [0, rest] : [rest, 0]
  const top = view.getScrollTop()
  const bottom = top + view.getHeight()
  const drawn = view.getWindowSpecs()
  return (
    (drawn.top <= top - above || drawn.top === 0) &&
    (drawn.bottom >= bottom + below || drawn.bottom >= view.getScrollHeight())
  )
}
