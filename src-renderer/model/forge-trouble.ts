import { ApiError } from '../../src-shared/contract/errors.ts'
import { forgeFailures, type ForgeTrouble } from '../../src-shared/contract/pull-requests.ts'

/** What a refused request tells about the forge. */
export type RequestTrouble = Omit<ForgeTrouble, 'occurred_at'>

/** Returns what the forge refused, and the right that lacks; null for an error that isn’t about it. */
export function forgeTrouble(error: unknown): RequestTrouble | null {
  if (!(error instanceof ApiError) || error.code !== 'external_sync_failed') return null
  const { reason, right, url } = error.details ?? {}
  return {
    reason: forgeFailures.find((one) => one === reason) ?? 'refused',
    message: error.message,
    right: typeof right === 'string' ? right : null,
    url: typeof url === 'string' ? url : null,
  }
}

/** Returns what git wrote when a push was refused; null for other errors. */
export function pushOutput(error: unknown): string | null {
  const output = error instanceof ApiError ? error.details?.['output'] : undefined
  return typeof output === 'string' && output.trim() !== '' ? output : null
}
