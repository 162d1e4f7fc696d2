import { setTimeout as delay } from 'node:timers/promises'
import { eventsLog, rawLog } from '../../src-shared/contract/job-events.ts'
import type { JobFinish } from '../../src-shared/contract/jobs.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { Ending } from './job-folder.ts'
import type { SentWork, WorkSender } from './send-work.ts'
import type { SentLog } from './sent-log.ts'
import { isLeaseLost, ServiceRefusal, type JobCalls } from './service-calls.ts'

export interface FinishParts {
  readonly calls: JobCalls
  readonly fence: number
  readonly events: SentLog
  readonly raw: SentLog
  /** null: the job has no work of a task. */
  readonly sender: Pick<WorkSender, 'sendAll'> | null
}

const retryMs = 2_000
const [maxMessage, maxLeft, maxPath] = [10_000, 1_000, 4_096]

/** Sends all that a job has made, and finishes it until the service says that all has arrived. */
export async function finishJob(
  { calls, fence, events, raw, sender }: FinishParts,
  ending: Ending,
  { signal }: Cancellable,
): Promise<void> {
  let sent = await sendAll(sender, { signal })
  let told = shortened(ending)
  for (;;) {
    const logs = { [eventsLog]: await events.flush(), [rawLog]: await raw.flush() }
    const left_there = sent.left_there.filter((path) => path.length <= maxPath).slice(0, maxLeft)
    try {
      return await calls.finish({ fence, ...told, logs, refs: { ...sent.refs }, left_there }, { signal })
    } catch (error) {
      if (isLeaseLost(error) || signal.aborted) throw error
      if (!(error instanceof ServiceRefusal)) await delay(retryMs, undefined, { signal })
      else if (error.code === 'not_arrived') {
        // Of the logs what is missing is being sent.
        await delay(retryMs / 10, undefined, { signal })
        if (namesRefs(error)) sent = await sendAll(sender, { signal })
      } else if (told.outcome === null && told.usage === null) throw error
      else told = withoutOutcome(told, error)
    }
  }
}

const none: SentWork = { refs: {}, left_there: [] }

async function sendAll(sender: FinishParts['sender'], { signal }: Cancellable): Promise<SentWork> {
  return sender ? await sender.sendAll({ signal }) : none
}

const namesRefs = ({ details }: ServiceRefusal): boolean => {
  const { refs } = details
  return Array.isArray(refs) && refs.length > 0
}

const shortened = (ending: Ending): Ending => ({ ...ending, message: ending.message?.slice(0, maxMessage) ?? null })

/** The service takes no such end, and never will: it gets one without what the agent's adapter found. */
function withoutOutcome({ exit_code }: Ending, { message }: ServiceRefusal): Ending {
  const what = `The service did not take how the run ended: ${message}`
  return {
    status: 'failed',
    exit_code,
    session_id: null,
    usage: null,
    outcome: null,
    message: what.slice(0, maxMessage),
  } satisfies Omit<JobFinish, 'fence' | 'logs' | 'refs' | 'left_there'>
}
