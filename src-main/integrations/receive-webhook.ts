import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import { isSignedWith, type WebhookDelivery } from '../platform/text/webhook-signature.ts'
import { TrackerError } from '../ports/issue-trackers.ts'
import { bindBeforeSending, secretOfWebhook } from './secret-bindings.ts'

/** Returns the value of a variable of the service's environment, without white space around it; '' without one. */
export type ReadVariable = (name: string) => string

/** Stands in where there is no secret, so that the answer takes as long. What it signs is refused all the same. */
const noSecret = 'none'

/**
 * Returns the project that a delivery is for; null unless it is signed with the secret of this integration. What is in
 * the delivery isn't read: who can send one can only make Copse ask its forge.
 */
export function receiveWebhook(
  { store, feed, clock, log }: Pick<Ground, 'store' | 'feed' | 'clock' | 'log'>,
  variable: ReadVariable,
  integration_id: string,
  delivery: WebhookDelivery,
): ProjectId | null {
  const record = store.read.integrations.list().find(({ id }) => id === integration_id)
  const used = record ? secretOfWebhook(record) : null
  const secret = used === null ? '' : variable(used.token_secret_ref)
  const isSigned = isSignedWith(delivery, secret === '' ? noSecret : secret, clock.now())
  if (!record || used === null || secret === '' || !isSigned) return null
  try {
    bindBeforeSending({ feed, store }, used)
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error
    log.warn({ project_id: record.project_id, err: error }, 'a webhook was refused')
    return null
  }
  return record.project_id
}
