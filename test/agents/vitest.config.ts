import { defineConfig } from 'vitest/config'

/** Real agents against the scripted model server; apart from `npm test`, because it downloads them. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/agents/**/*.agents.ts'],
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // Each test runs an agent of hundreds of megabytes; two cores are enough for one file at a time.
    fileParallelism: false,
  },
})
