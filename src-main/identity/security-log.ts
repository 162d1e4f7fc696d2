import type { SecurityEventType, SecurityLogEntry } from '../../src-shared/contract/identity.ts'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { RequestSource } from '../domain/access/request-source.ts'
import type { IdentityContext } from './context.ts'

/** How long entries are kept. */
const retentionMs = 90 * 24 * 60 * 60_000
const maxClient = 200

interface SecurityNote {
  readonly type: SecurityEventType
  /** The account that the entry is about. */
  readonly user_id: UserId | null
  /** The actor as in the audit. */
  readonly actor: string
  readonly source: Pick<RequestSource, 'address' | 'client'>
  /** Nothing secret: no password, token or code. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Records events of accounts and tokens. */
export interface SecurityLog {
  note(note: SecurityNote): void
  /** Newest first. `before`: the ID of the last entry of the page before. */
  list(before: string | null, limit: number): SecurityLogEntry[]
}

/** Events that anyone can cause, so they must not fill the disk. */
const byAnybody: readonly SecurityEventType[] = ['sign_in_failed', 'registration_refused', 'run_refused']
const perMinute = 100

/**
 * Stores the log in the database. Of events that anyone can cause, 100 per minute are written, then the number of
 * those left out.
 */
export function createSecurityLog({ store, clock, newId, nowIso }: IdentityContext): SecurityLog {
  let minute = { until: 0, noted: 0, left_out: 0 }
  const oldest = () => new Date(clock.now() - retentionMs).toISOString()
  /** Returns further details of an entry, or null if it exceeds the limit. */
  const admit = (type: SecurityEventType): Readonly<Record<string, unknown>> | null => {
    if (!byAnybody.includes(type)) return {}
    const now = clock.now()
    const { left_out } = minute
    if (minute.until <= now || minute.until > now + 60_000) minute = { until: now + 60_000, noted: 0, left_out: 0 }
    if (minute.noted >= perMinute) {
      minute.left_out += 1
      return null
    }
    minute.noted += 1
    return minute.noted === 1 && left_out > 0 ? { left_out_before: left_out } : {}
  }
  return {
    note: ({ type, user_id, actor, source, details }) => {
      const more = admit(type)
      if (more === null) return
      store.securityLog.deleteUntil(oldest())
      store.securityLog.insert({
        id: newId(),
        type,
        at: nowIso(),
        user_id,
        actor,
        address: source.address,
        client: clientOf(source),
        details: { ...details, ...more },
      })
    },
    list: (before, limit) => store.securityLog.list({ since: oldest(), before, limit }),
  }
}

/** Returns the caller's user agent, cut to the stored length. */
export function clientOf({ client }: Pick<RequestSource, 'client'>): string | null {
  return client === null ? null : client.slice(0, maxClient)
}
