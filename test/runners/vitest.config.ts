import { defineConfig } from 'vitest/config'

/** Runners, and the service, on engines that a test machine must be given: a cluster by KUBECONFIG. Apart from `npm test`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/runners/**/*.runners.ts'],
    env: { SVC_CONTAINMENT: 'none' },
    testTimeout: 240_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
})
