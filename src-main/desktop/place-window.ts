import { smallestWindow, type WindowState } from './window-state.ts'

/** A rectangle of the desktop in its pixels. */
export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Part of the title bar that must be visible, so that the user can grab the window. */
const leastWidth = 120
const titleHeight = 32

/**
 * Returns where to open a window that was left as `state`, given the current displays, the main one first: at its old
 * position if it can be reached there, else in the middle of the main display. Never larger than its display.
 */
export function placeWindow(state: WindowState, displays: readonly Area[]): WindowState {
  const { x, y } = state
  const there = x === undefined || y === undefined ? undefined : displays.find((area) => isReachable(state, x, y, area))
  const display = there ?? displays[0]
  if (display === undefined) return state
  const width = Math.max(smallestWindow.width, Math.min(state.width, display.width))
  const height = Math.max(smallestWindow.height, Math.min(state.height, display.height))
  if (there !== undefined) return { ...state, width, height }
  const middle = (from: number, whole: number, part: number) => Math.max(from, Math.round(from + (whole - part) / 2))
  return {
    x: middle(display.x, display.width, width),
    y: middle(display.y, display.height, height),
    width,
    height,
    maximized: state.maximized,
  }
}

function isReachable({ width }: WindowState, x: number, y: number, area: Area): boolean {
  const inSight = Math.min(x + width, area.x + area.width) - Math.max(x, area.x)
  return inSight >= leastWidth && y >= area.y - titleHeight / 2 && y + titleHeight <= area.y + area.height
}
