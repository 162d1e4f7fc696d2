import { afterAll, vi } from 'vitest'

// The test files of a worker share its process: what one of them does to the environment, the clock or a global ends
// with it, also where tests that ran side by side put back what they had found in each other's order.
const environment = process.env
const before = { ...environment }

afterAll(() => {
  // A copy in its place no longer reaches the process: `homedir()`, for one, would not follow it.
  if (process.env !== environment) throw new Error('A test has replaced process.env. Stub its variables one by one.')
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, before)
})
