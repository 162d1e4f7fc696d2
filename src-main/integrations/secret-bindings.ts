import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { Ground } from '../core/ground.ts'
import { TrackerError, type IntegrationRecord } from '../ports/issue-trackers.ts'
import { boundHostOf } from './tracker-urls.ts'
import type { SecretHostQueries } from '../ports/integration-queries.ts'

// A variable of the service's environment is bound to the first host that its value was sent to. Otherwise an owner
// who may not read it could send it to their own host.

type Used = Pick<IntegrationRecord, 'base_url' | 'token_secret_ref'>

/**
 * Returns the secret that a forge's webhooks are signed with as one that is used for that forge; null without one. It is
 * bound by its first delivery: else an owner could name it as the token for a host of their own.
 */
export function secretOfWebhook({
  base_url,
  webhook_secret_ref,
}: Pick<IntegrationRecord, 'base_url' | 'webhook_secret_ref'>): Used | null {
  return webhook_secret_ref === null ? null : { base_url, token_secret_ref: webhook_secret_ref }
}

/** The caller; an admin may bind a variable to another host. */
export interface Binder {
  readonly may_rebind: boolean
}

/**
 * Returns why an integration may not send its variable to its host, or null. An admin rebinds it, within the
 * transaction.
 */
export function checkBinding(
  q: { readonly secret_hosts: SecretHostQueries },
  { base_url, token_secret_ref: name }: Used,
  { may_rebind }: Binder,
): Refusal | null {
  const [bound, host] = [q.secret_hosts.get(name), boundHostOf(base_url)]
  if (bound === null || host === null || bound === host) return null
  if (!may_rebind) return { code: 'secret_bound', message: boundElsewhere(name, bound, host) }
  q.secret_hosts.put(name, host)
  return null
}

/** Binds a variable before its first use. Throws `TrackerError` if it is bound to another host. */
export function bindBeforeSending({ feed, store }: Pick<Ground, 'feed' | 'store'>, used: Used): void {
  const host = boundHostOf(used.base_url)
  const bound = store.read.secret_hosts.get(used.token_secret_ref)
  if (host === null || bound === host) return
  if (bound !== null) throw new TrackerError('secret_bound', boundElsewhere(used.token_secret_ref, bound, host))
  feed.commit((tx) => {
    tx.secret_hosts.put(used.token_secret_ref, host)
  })
}

const boundElsewhere = (name: string, bound: string, host: string) =>
  `${name} was sent to ${bound} before and goes nowhere else. Name another variable for ${host}, or ask an admin to save this.`
