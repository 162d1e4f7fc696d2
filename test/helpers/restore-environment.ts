import { afterAll, vi } from 'vitest'

// The test files of a worker share its process, so a file's changes to the environment, the clock or a global are
// undone at its end, even if parallel tests restored their values in the wrong order.
const environment = process.env
const before = { ...environment }

afterAll(() => {
  // A copy in its place would not reach the process: `homedir()`, for one, would not follow it.
  if (process.env !== environment) throw new Error('A test has replaced process.env. Stub its variables one by one.')
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, before)
})
