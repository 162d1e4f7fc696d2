import { ApiError } from '../../src-shared/contract/errors.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import type { Principal } from '../domain/access/principal.ts'
import { createRateLimiter } from '../platform/limits/rate-limiter.ts'
import type { Clock } from '../ports/clock.ts'

/** Records that a run may create in an hour: more than any needs, and few enough to load. */
const perHour = 1_000
const hourMs = 60 * 60_000

/** Operations that create records, which stay and which all clients load. */
const creators: ReadonlySet<OperationName> = new Set([
  ...(['tasks.create', 'tasks.create_many', 'comments.create', 'knowledge.create', 'attachments.create'] as const),
])

/**
 * Returns the function that counts what each run asks to create, refused requests too, so that no run fills the board
 * or the disk. Throws `rate_limited`.
 */
export function createRecordLimits(clock: Clock) {
  const made = createRateLimiter(perHour, hourMs, clock.now)
  return (name: OperationName, request: Readonly<Record<string, unknown>>, principal: Principal): void => {
    if (principal.kind !== 'agent' || !creators.has(name)) return
    const wait = made.waitMs(principal.execution_id)
    if (wait > 0) throw tooMany(wait)
    const { items } = request
    const count = name === 'tasks.create_many' && Array.isArray(items) ? items.length : 1
    for (let index = 0; index < count; index++) made.add(principal.execution_id)
  }
}

function tooMany(wait: number): ApiError {
  const retry_after = Math.ceil(wait / 1_000)
  const message = `This run has created ${perHour} tasks, comments, files and knowledge entries in an hour. Use those, or try again later.`
  return new ApiError({ code: 'rate_limited', message, details: { retry_after } })
}
