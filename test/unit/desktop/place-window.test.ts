import { expect, test } from 'vitest'
import { placeWindow } from '../../../src-main/desktop/place-window.ts'

const laptop = { x: 0, y: 25, width: 1512, height: 920 }
const beside = { x: 1512, y: 0, width: 2560, height: 1440 }
const state = { x: 1800, y: 100, width: 1440, height: 900, maximized: false }

test('keeps the window’s place as long as its title bar can be reached', () => {
  expect(placeWindow(state, [laptop, beside])).toEqual(state)
  const halfOut = { ...state, x: -1000, y: 30 }
  expect(placeWindow(halfOut, [laptop])).toEqual(halfOut)
})

test.each([
  ['on a display that is gone', { ...state }],
  ['left of everything', { ...state, x: -1400, y: 100 }],
  ['with its title bar above the screen', { ...state, x: 0, y: -400 }],
  ['with its title bar below the screen', { ...state, x: 0, y: 940 }],
])('centres a window %s on the main display', (_where, lost) => {
  expect(placeWindow({ ...lost, maximized: true }, [laptop])).toEqual({
    x: 36,
    y: 35,
    width: 1440,
    height: 900,
    maximized: true,
  })
})

test('keeps the window within its display and above its minimum size', () => {
  expect(placeWindow({ ...state, width: 2400, height: 1400, x: 20, y: 30 }, [laptop])).toMatchObject({
    width: 1512,
    height: 920,
  })
  const tiny = { x: 0, y: 0, width: 800, height: 480 }
  expect(placeWindow(state, [tiny])).toMatchObject({ x: 0, y: 0, width: 1024, height: 640 })
})

test('centres the first window', () => {
  expect(placeWindow({ width: 1440, height: 900, maximized: false }, [beside])).toMatchObject({ x: 2072, y: 270 })
  expect(placeWindow({ width: 1440, height: 900, maximized: false }, [])).not.toHaveProperty('x')
})
