import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSignedWith, type WebhookDelivery } from '../../../../src-main/platform/text/webhook-signature.ts'

const now = Date.UTC(2026, 10, 27)
const delivery = (headers: WebhookDelivery['headers'], body = 'Hello, World!'): WebhookDelivery => ({
  headers,
  body: Buffer.from(body),
})
const hex = (secret: string, body: string | Buffer) => createHmac('sha256', secret).update(body).digest('hex')

// Of GitHub's documentation.
const [secret, sum] = ["It's a Secret to Everybody", '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17']

test.each([
  ['GitHub', { 'x-hub-signature-256': `sha256=${sum}` }],
  ['Gitea', { 'x-gitea-signature': sum }],
  ['GitLab', { 'x-gitlab-token': secret }],
])('accepts what %s sends, and nothing near it', (_forge, headers) => {
  expect(isSignedWith(delivery(headers), secret, now)).toBe(true)
  expect(isSignedWith(delivery(headers), `${secret}!`, now)).toBe(false)
  const [[name, value] = ['', '']] = Object.entries(headers)
  for (const other of ['', value.slice(1), `${value}0`, value.toUpperCase(), [value]]) {
    expect(isSignedWith(delivery({ [name]: other }), secret, now), String(other)).toBe(false)
  }
})

test('reads the bytes as they came, not their text', () => {
  const body = Buffer.from([0xff, 0x00, 0xfe, 0x0d, 0x0a])
  const signed = { headers: { 'x-gitea-signature': hex(secret, body) }, body }
  expect(isSignedWith(signed, secret, now)).toBe(true)
  expect(isSignedWith({ ...signed, body: Buffer.from(body.toString()) }, secret, now)).toBe(false)
  expect(isSignedWith(delivery({ 'x-gitea-signature': sum }, 'Hello, World! '), secret, now)).toBe(false)
})

test('takes a secret beyond ASCII as its bytes', () => {
  const umlaut = 'größer'
  expect(isSignedWith(delivery({ 'x-gitlab-token': Buffer.from(umlaut).toString('latin1') }), umlaut, now)).toBe(true)
})

// Of the libraries of Standard Webhooks.
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const sentAt = 1_614_265_330
const standard = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': String(sentAt),
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const told = '{"test": 2432232314}'
const accepts = (changed: Partial<typeof standard>, { with: used = key, at = sentAt } = {}) =>
  isSignedWith(delivery({ ...standard, ...changed }, told), used, at * 1_000)

test('accepts a delivery signed by Standard Webhooks, also beside one of another secret', () => {
  expect(accepts({})).toBe(true)
  expect(accepts({ 'webhook-signature': `v1,AAAA ${standard['webhook-signature']}` })).toBe(true)
})

test('refuses one that is changed, old, or of another version', () => {
  expect(accepts({ 'webhook-id': 'msg_other' })).toBe(false)
  expect(accepts({ 'webhook-timestamp': String(sentAt + 1) })).toBe(false)
  expect(accepts({ 'webhook-timestamp': 'yesterday' })).toBe(false)
  expect(accepts({ 'webhook-signature': standard['webhook-signature'].replace('v1', 'v2') })).toBe(false)
  expect([300, 301, -300, -301].map((late) => accepts({}, { at: sentAt + late }))).toEqual([true, false, true, false])
  expect(accepts({}, { with: 'whsec_other' })).toBe(false)
})

test('accepts nothing that is signed with an empty key', () => {
  const text = `${standard['webhook-id']}.${sentAt}.${told}`
  const signature = createHmac('sha256', '').update(text).digest('base64')
  expect(accepts({ 'webhook-signature': `v1,${signature}` }, { with: 'whsec_' })).toBe(false)
})

test('takes a secret without the prefix as it is', () => {
  const text = `${standard['webhook-id']}.${sentAt}.${told}`
  const signature = createHmac('sha256', secret).update(text).digest('base64')
  expect(accepts({ 'webhook-signature': `v1,${signature}` }, { with: secret })).toBe(true)
})
