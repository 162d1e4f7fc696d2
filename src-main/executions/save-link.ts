import type { Ask, RunLink } from '../../src-shared/contract/executions.ts'
import { toExecution } from '../core/views.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { RunGround } from './run-ground.ts'

/** Saves the contact with the runner of a run, and tells it. */
export async function saveLink(
  { feed, writes, log }: RunGround,
  { id, task_id, project_id }: ExecutionRecord,
  { link, asks }: { readonly link: RunLink; readonly asks: readonly Ask[] },
): Promise<void> {
  const write = () =>
    feed.commit((tx) => {
      const current = tx.executions.get(id)
      if (current?.status !== 'running') return
      const changed = { ...current, link }
      tx.executions.put(changed)
      const execution = { ...toExecution(changed), ...(asks.length > 0 && { asks: [...asks] }) }
      tx.emit('execution.updated', { project_id, task_id, execution })
    })
  await writes.untilWritten(write).catch((error: unknown) => {
    log.warn({ err: error, execution_id: id }, 'the contact with a runner could not be written down')
  })
}
