import { executorInfos } from '../../../src-shared/contract/executor-profiles.ts'
import { ExecutorError } from '../../ports/executors.ts'
import type { ExecutorDefinition } from '../definition.ts'

/** An agent that runs elsewhere: it claims, sends heartbeats and finishes over the API; Copse starts nothing. */
export const definition: ExecutorDefinition = {
  executor: 'external',
  configNames: [],
  start: () =>
    Promise.reject(
      new ExecutorError('not_configured', 'An external agent runs elsewhere and is not started from here.'),
    ),
  refusedArgs: () => [],
  detect: () =>
    Promise.resolve({
      executor: 'external',
      name: executorInfos.external.name,
      installed: true,
      path: null,
      version: null,
      signed_in: null,
      hint: null,
    }),
}
