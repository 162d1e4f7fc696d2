import type { StateHook } from '../../src-shared/contract/workflow-definition.ts'
import type { Job } from './job.ts'

/** The last hook of a state: its failure is emitted, which shows that all hooks before it are done. */
export const lastHook: StateHook = { script: 'exit 1' }

/** The outcomes of the hooks of a task's latest move into a state, in order, once its `lastHook` is done. */
export async function timeline(job: Job, task_id: string, to: string): Promise<string[]> {
  const read = async () => (await job.transitions(task_id)).findLast((entry) => entry.to_state === to)?.hooks ?? []
  const hooks = await job.running.eventually(read, (all) => all.some((hook) => hook.action === 'script'))
  return hooks
    .filter((hook) => hook.action !== 'script')
    .map(({ phase, action, outcome, reason }) => [phase, action, outcome, ...(reason ? [reason] : [])].join(' '))
}
