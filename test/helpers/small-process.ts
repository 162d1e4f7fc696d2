import { beforeAll } from 'vitest'

// To start a program takes the longer the more memory the process has that starts it: what is left of loading the
// modules goes before the first test starts any.
beforeAll(() => {
  globalThis.gc?.()
})
