import { ExecutorError } from '../ports/executors.ts'
import type { ExecutorProfileDriver } from './executor.ts'

/** An agent that runs elsewhere: it claims, heartbeats and finishes over the API, and nothing is started here. */
export const external: ExecutorProfileDriver = {
  name: 'external',
  location: 'remote',
  start: () =>
    Promise.reject(
      new ExecutorError('not_configured', 'An external agent runs elsewhere and is not started from here.'),
    ),
  refusedArgs: () => [],
  detect: () =>
    Promise.resolve({
      executor: 'external',
      name: 'External agent',
      installed: true,
      path: null,
      version: null,
      signed_in: null,
      hint: null,
    }),
}
