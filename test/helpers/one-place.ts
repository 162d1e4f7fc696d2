import type { Place, Places } from '../../src-main/ports/place.ts'

/** Places where every task and runner is at one place; `here` may be another. */
export const onePlace = (place: Place, here = place): Places => ({
  here,
  of: () => place,
  at: () => place,
  scripts: () => place.scripts,
  all: () => [...new Set([here, place])],
})
