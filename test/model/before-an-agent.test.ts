import { expect, test } from 'vitest'
import type { ExecutionRecord } from '../../src-main/ports/execution-queries.ts'
import { startEngineRig } from './engine-rig.ts'

test('stores what a run is compared with before its agent begins', async () => {
  const seen: (ExecutionRecord | null)[] = []
  await using rig = await startEngineRig(':memory:', (store, { execution_id }) => {
    seen.push(store.read.executions.get(execution_id))
  })
  const [task] = rig.tasks(1, 'todo')
  if (!task) throw new Error('there is no task')
  const claimant = { type: 'agent', id: rig.ids.coder } as const
  const request = { task_id: task.id, claimant, triggered_by: 'user:1', by_person: true, overrides: {} }
  await rig.engine.claims.claim(request, AbortSignal.timeout(10_000))
  await rig.rest(task.id)
  // An agent that judges at once must find its run saved.
  expect(seen).toMatchObject([{ start_commit: 'head', repository_state: {} }])
})
