import { expect, test } from 'vitest'
import { codeOf, login } from '../../helpers/asking.ts'
import { register } from '../../helpers/membership.ts'
import { runApp } from '../../helpers/running-app.ts'

const start = Date.parse('2026-11-21T09:30:00.000Z')

test('shows admins account events, newest first, in pages, without secrets', async () => {
  await using running = await runApp()
  const { client } = running
  const bob = await register(running, 'Bob')
  const invite = await client.call('admin.create_invite', {})
  await client.call('admin.delete_invite', { invite_id: invite.id })
  const token = await client.call('auth.create_token', { name: 'ci' })
  await client.call('auth.delete_token', { token_id: token.id })
  const reset = await client.call('admin.create_reset', { user_id: bob.user_id })
  await client.call('admin.update_user', { user_id: bob.user_id, is_admin: true })
  await codeOf(login(running, 'wrong horse'))
  await codeOf(running.clientWith(null).call('auth.login', { email: 'my password', password: 'x' }))
  const session = await login(running)
  await running.clientWith(null).call('auth.logout', { refresh_token: session.refresh_token })
  const { items, has_more } = await client.call('admin.security_log', {})
  expect([has_more, items.map(({ type }) => type)]).toEqual([
    false,
    [
      ...(['signed_out', 'signed_in', 'sign_in_failed', 'sign_in_failed', 'admin_granted', 'reset_created'] as const),
      ...(['token_revoked', 'token_created', 'invite_deleted', 'invite_created', 'registered', 'registered'] as const),
    ],
  ])
  expect(items[4]).toMatchObject({ user_id: bob.user_id, actor: 'user:owner', address: '127.0.0.1' })
  expect(items[2]).toMatchObject({ user_id: null, actor: 'user:anonymous' })
  const text = JSON.stringify(items)
  for (const secret of [invite.code, token.token, reset.code, 'my password', 'wrong horse', session.refresh_token]) {
    expect(text).not.toContain(secret)
  }
  const paged: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.call('admin.security_log', { limit: 5, ...(cursor !== undefined && { cursor }) })
    paged.push(...page.items.map(({ id }) => id))
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  expect(paged).toEqual(items.map(({ id }) => id))
})

test('forgets entries after 90 days, and is not flooded by failed sign-ins', async () => {
  const time = { now: start }
  await using running = await runApp({ clock: { now: () => time.now } })
  for (let index = 0; index < 150; index++) {
    await codeOf(running.clientWith(null).call('auth.login', { email: `x${index}@copse.test`, password: 'x' }))
  }
  const log = async (client = running.client) => (await client.call('admin.security_log', { limit: 200 })).items
  expect((await log()).filter(({ type }) => type === 'sign_in_failed')).toHaveLength(100)
  time.now += 60_000
  await codeOf(login(running, 'wrong horse'))
  expect((await log())[0]?.details).toEqual({ with: 'password', left_out_before: 50 })
  time.now += 90 * 24 * 3_600_000
  const { access_token } = await login(running)
  expect((await log(running.clientWith(access_token))).map(({ type }) => type)).toEqual(['signed_in'])
})
