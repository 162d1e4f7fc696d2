import { readFileSync, writeFileSync } from 'node:fs'

/** Size and position of the window; without a position the system chooses one. */
export interface WindowState {
  readonly x?: number
  readonly y?: number
  readonly width: number
  readonly height: number
  readonly maximized: boolean
}

export const firstWindow: WindowState = { width: 1440, height: 900, maximized: false }
export const smallestWindow = { width: 1024, height: 640 } as const

/** Reads what `saveWindowState` wrote; the default if `file` has nothing usable. */
export function loadWindowState(file: string): WindowState {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    // A missing or truncated file must not fail the start, so the default applies.
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error)) return firstWindow
    throw error
  }
  if (typeof value !== 'object' || value === null) return firstWindow
  const { x, y, width, height, maximized } = value as Partial<Record<keyof WindowState, unknown>>
  if (!isLength(width, smallestWindow.width) || !isLength(height, smallestWindow.height)) return firstWindow
  const place = Number.isInteger(x) && Number.isInteger(y) ? { x: x as number, y: y as number } : {}
  return { ...place, width, height, maximized: maximized === true }
}

export function saveWindowState(file: string, state: WindowState): void {
  writeFileSync(file, JSON.stringify(state))
}

function isLength(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= 20_000
}
