import type { Refusal } from '../../../src-shared/contract/errors.ts'

const passing: readonly unknown[] = ['rate_limited', 'unreachable']

/** Returns whether a refusal may be over by itself: the forge fails, or asked for a pause. */
export function isTransient({ code, details }: Refusal): boolean {
  return code === 'external_sync_failed' && passing.includes(details?.['reason'])
}

const firstMs = 30_000
const longestMs = 1_800_000

/** Returns how long to wait before a failed write is tried again, in milliseconds. */
export function retryDelay(failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 20))
}
