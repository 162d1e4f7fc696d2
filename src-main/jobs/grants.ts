import type { JobGrant } from '../ports/job-access.ts'
import type { JobRecord } from '../ports/job-queries.ts'
import type { Entry } from './entry.ts'

/** The room of what a job brings that is over, in MB. */
const lateMb = 1024

const never = new AbortController().signal

/** Returns what a token with this fence opens of a job's repository; null if it opens nothing. */
export function grantFor(entry: Entry | JobRecord, fence: number, onBrought: () => void): JobGrant | null {
  if ('lease' in entry) {
    if (entry.finishedWith !== null) return null
    if (entry.lease.state === 'accepted' && fence === entry.lease.fence)
      return grantOf(entry, { access: 'work', ended: entry.grantEnd.signal, ...roomOf(entry) })
    // Of a job that none has accepted nothing can be late.
    if (entry.lease.instance === null) return null
    return grantOf(entry, { access: 'late', ended: never, onBrought, ...roomOf(entry) })
  }
  if (entry.instance === null || entry.finished_fence !== null) return null
  return grantOf(entry, { access: 'late', ended: never, onBrought, ...lateRoom(entry) })
}

function grantOf({ id, task_id }: Pick<Entry, 'id' | 'task_id'>, more: Omit<JobGrant, 'job_id' | 'task_id'>): JobGrant {
  return { job_id: id, task_id, ...more }
}

function roomOf(entry: Entry): Pick<JobGrant, 'max_push_mb' | 'take'> {
  return { max_push_mb: entry.owner?.max_push_mb ?? lateMb, take: (bytes) => take(entry, bytes) }
}

/** Returns what is left of the room of a job that is over. */
function lateRoom({ sent_bytes }: JobRecord): Pick<JobGrant, 'max_push_mb' | 'take'> {
  let sent = sent_bytes
  return { max_push_mb: lateMb, take: (bytes) => (sent += bytes) <= lateMb * 1024 * 1024 }
}

/** Counts bytes that a job has sent; returns false once they are more than its room. */
export function take(entry: Entry, bytes: number): boolean {
  entry.sent += bytes
  return entry.sent <= (entry.owner?.max_push_mb ?? lateMb) * 1024 * 1024
}
