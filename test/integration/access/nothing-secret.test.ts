import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

/** Creates every kind of secret, uses it correctly and wrongly, and returns all of them. */
async function useSecrets(running: RunningApp): Promise<ReadonlyMap<string, string>> {
  const anonymous = running.clientWith(null)
  const password = 'a password that nobody else has'
  const person = { email: 'ada@copse.test', password, display_name: 'Ada' }
  const session = await anonymous.call('auth.register', person)
  const wrong = 'a wrong password that nobody has'
  expect(await refusalOf(anonymous.call('auth.login', { ...person, password: wrong }))).toBe('invalid_credentials')
  const renewed = await anonymous.call('auth.refresh', { refresh_token: session.refresh_token })
  const personal = await running.clientWith(renewed.access_token).call('auth.create_token', { name: 'script' })
  expect(await refusalOf(anonymous.call('auth.refresh', { refresh_token: session.refresh_token }))).toBe(
    'refresh_token_reused',
  )
  const reset = await running.client.call('admin.create_reset', { user_id: session.user.id })
  const invite = await running.client.call('admin.create_invite', {})
  const daemon = await running.client.call('daemons.create', { name: 'Elsewhere' })
  const tampered = `${session.access_token}x`
  expect(await refusalOf(running.clientWith(tampered).call('auth.me', {}))).toBe('invalid_token')
  const code = running.app.identity.createLocalCode()
  const local = await anonymous.call('auth.local', { code })
  await running.clientWith(personal.token).call('auth.me', {})
  // An unparsable body is quoted nowhere either.
  await fetch(`${running.url}/api/v1/auth/login?token=${personal.token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${personal.token}` },
    body: `{"email":"ada@copse.test","password":"${password}"`,
  })
  return new Map([
    ['password', password],
    ['wrong password', wrong],
    ['access token', session.access_token],
    ['refresh token', session.refresh_token],
    ['renewed refresh token', renewed.refresh_token],
    ['personal token', personal.token],
    ['reset code', reset.code],
    ['invite', invite.code],
    ['daemon token', daemon.token],
    ['tampered token', tampered],
    ['one-time code', code],
    ['local token', local.access_token],
  ])
}

/** Every event so far, as clients receive them. */
async function eventsOf(running: RunningApp): Promise<readonly FeedItem[]> {
  const last = await running.client.call('agents.create', { name: 'Last', executor: 'external' })
  const items: FeedItem[] = []
  const stop = new AbortController()
  for await (const item of running.client.events({}, 0, stop.signal)) {
    items.push(item)
    if (item.kind === 'event' && item.event.type === 'agent.updated' && item.event.data.agent_id === last.id) break
  }
  stop.abort()
  return items
}

async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file)] as const)))
}

test('stores no secret in the log, an event, the API description or any file', async () => {
  const lines: string[] = []
  const log = createLogger({ level: 'trace', stream: { write: (line) => void lines.push(line) } })
  await using running = await runApp({ log })
  const secrets = await useSecrets(running)
  const events = JSON.stringify(await eventsOf(running))
  expect(events).toContain('user.updated')
  const description = await (await fetch(`${running.url}/openapi.json`)).text()
  const places = new Map<string, Buffer>([
    ['log', Buffer.from(lines.join(''))],
    ['events', Buffer.from(events)],
    ['openapi.json', Buffer.from(description)],
    // Includes the database's journal, because the service runs.
    ...(await filesOf(running.dataDir)),
  ])
  const found = [...secrets].flatMap(([name, secret]) =>
    [...places].filter(([, content]) => content.includes(secret)).map(([place]) => `${name} in ${place}`),
  )
  expect(found).toEqual([])
  expect([...places.keys()].some((place) => place.endsWith('copse.db-wal'))).toBe(true)
  // The search itself works.
  expect([...places].filter(([, content]) => content.includes('ada@copse.test')).map(([place]) => place)).toContain(
    'events',
  )
})
