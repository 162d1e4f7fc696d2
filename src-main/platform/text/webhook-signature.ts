import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A request that says that it comes from a forge, as it arrived. */
export interface WebhookDelivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The bytes as they came: they are what is signed, not what they mean. */
  readonly body: Uint8Array
}

/** How far the clock of the sender may be from ours, in seconds, as Standard Webhooks has it. */
const toleranceSeconds = 300

/** What each header proves; `now` is in milliseconds. */
type Proof = (header: string, delivery: WebhookDelivery, secret: string, now: number) => boolean

const proofs: Readonly<Record<string, Proof>> = {
  // GitHub, and Gitea and Forgejo beside their own.
  'x-hub-signature-256': (header, { body }, secret) => isSame(header, `sha256=${hmac(secret, [body]).toString('hex')}`),
  // Gitea and Forgejo.
  'x-gitea-signature': (header, { body }, secret) => isSame(header, hmac(secret, [body]).toString('hex')),
  // Standard Webhooks, as GitLab signs since it can.
  'webhook-signature': isStandard,
  // GitLab sends the secret itself.
  'x-gitlab-token': (header, _delivery, secret) => isSame(Buffer.from(header, 'latin1'), secret),
}

/**
 * Returns whether a delivery proves that its sender knows the secret. One header is enough: none can be made without the
 * secret.
 */
export function isSignedWith(delivery: WebhookDelivery, secret: string, now: number): boolean {
  return Object.entries(proofs).some(([name, proves]) => {
    const header = delivery.headers[name]
    return typeof header === 'string' && proves(header, delivery, secret, now)
  })
}

function isStandard(header: string, { headers, body }: WebhookDelivery, secret: string, now: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': sent } = headers
  if (typeof id !== 'string' || typeof sent !== 'string' || !/^\d{1,12}$/.test(sent)) return false
  if (Math.abs(now / 1_000 - Number(sent)) > toleranceSeconds) return false
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  // Everyone can sign with an empty key.
  if (key.length === 0) return false
  const signed = `v1,${hmac(key, [`${id}.${sent}.`, body]).toString('base64')}`
  // While a secret is replaced, there is one for each.
  return header.split(' ').some((one) => isSame(one, signed))
}

function hmac(key: string | Buffer, parts: readonly (string | Uint8Array)[]): Buffer {
  const sum = createHmac('sha256', key)
  for (const part of parts) sum.update(part)
  return sum.digest()
}

/** Compares in a time that tells nothing of where they differ, nor of their lengths. */
const isSame = (one: string | Buffer, other: string | Buffer): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest()
