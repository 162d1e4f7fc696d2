import type { ReportedExecution } from '../../src-shared/contract/daemons.ts'
import type { UsageReport } from '../../src-shared/contract/executions.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { findReached } from './rules/limits.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Executions } from './executions.ts'
import { usageAfter } from './prices.ts'
import type { RunLimits } from './run-limits.ts'

type Instruction = Omit<ReportedExecution, 'id'>

/** Runs that are not processes of this service: they report over the API and read there when to stop. */
export interface RemoteRuns {
  /** Records a heartbeat of a run, with its usage so far. */
  note(tx: Tx, record: ExecutionRecord, usage: UsageReport | undefined): ExecutionRecord
  /** Returns what a run must do now; ends one that has reached a limit. */
  instruct(id: ExecutionId): Promise<Instruction>
  /** Ends runs that are over their time, whether they report or not. */
  sweep(): void
}

export function createRemoteRuns(
  context: Ground,
  { executions, limits }: { readonly executions: Executions; readonly limits: RunLimits },
): RemoteRuns {
  const { read } = context.store
  const isRemote = ({ executor, agent_id, task_id }: ExecutionRecord) =>
    agent_id !== null && executor !== 'person' && context.places.of(task_id).runs.location(executor) === 'remote'

  const instruct = async (id: ExecutionId): Promise<Instruction> => {
    const record = read.executions.get(id)
    if (!record || !isOpen(record)) return { action: 'stop', ...(record && { reason: endReason(record) }) }
    const live = executions.running().get(id)
    if (live?.limit) return { action: 'stop', reason: 'limit_reached' }
    if (record.status !== 'running' || !isRemote(record)) return { action: 'continue' }
    const reached = findReached(limits.look(record, limits.spentBy(record)))
    if (reached === null) return { action: 'continue' }
    await executions.endAtLimit(id, reached)
    return { action: 'stop', reason: 'limit_reached' }
  }
  const endReason = (record: ExecutionRecord): NonNullable<Instruction['reason']> => {
    const annotation = read.tasks.get(record.task_id)?.error_annotation
    const byLimit = annotation?.type === 'limit_reached' && annotation.execution_id === record.id
    return byLimit ? 'limit_reached' : record.status
  }
  return {
    instruct,
    note: (tx, record, usage) => {
      const local = !isRemote(record)
      const noted: ExecutionRecord = {
        ...record,
        ...(isOpen(record) && { last_heartbeat_at: tx.now() }),
        // The usage of a local run is counted from its own output.
        ...(usage !== undefined && !local && { usage: usageAfter(tx, record, usage) }),
      }
      tx.executions.put(noted)
      return noted
    },
    sweep: () => {
      for (const record of read.executions.open()) {
        if (record.status !== 'running' || !isRemote(record)) continue
        instruct(record.id).catch((error: unknown) => {
          context.log.error({ err: error, execution_id: record.id }, 'a run elsewhere could not be held to its limits')
        })
      }
    },
  }
}

const isOpen = ({ status }: ExecutionRecord): boolean => status === 'running' || status === 'queued'
