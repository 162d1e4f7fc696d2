import { beforeAll } from 'vitest'

// Starting a program takes longer the more memory the starting process has, so the garbage of loading
// the modules is collected before the first test starts any.
beforeAll(() => {
  globalThis.gc?.()
})
