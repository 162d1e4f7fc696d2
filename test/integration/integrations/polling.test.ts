import { expect, test } from 'vitest'
import { json } from '../../helpers/fake-tracker.ts'
import { startIntegrationJob } from '../../helpers/integration-job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

test('polls once per interval', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  const made = await at.integrate({ poll_interval_secs: 1 })
  expect(Date.parse(made.next_poll_at ?? '') - Date.parse(made.created_at)).toBe(1_000)
  await at.job.running.eventually(at.tasks, (tasks) => tasks.length === 1)
  at.tracker.repositories.set('octo/hello', [{ number: 2, title: 'Two' }])
  await at.job.running.eventually(at.tasks, (tasks) => tasks.length === 2)
  const { last_polled_at, next_poll_at } = await at.integration()
  const wait = Date.parse(next_poll_at ?? '') - Date.parse(last_polled_at ?? '')
  expect(wait).toBeGreaterThanOrEqual(1_000)
  expect(wait).toBeLessThanOrEqual(1_100)
})

test('polls a failing one less and less often, until it succeeds or is changed', async () => {
  await using at = await startIntegrationJob()
  await at.integrate({ poll_interval_secs: 600 })
  at.tracker.instead = () => json(500, {})
  const waits: number[] = []
  for (let nth = 0; nth < 4; nth++) {
    await refused(at.sync())
    const { next_poll_at, last_error } = await at.integration()
    waits.push((Date.parse(next_poll_at ?? '') - Date.parse(last_error?.occurred_at ?? '')) / 1_000)
  }
  const expected = [1_200, 2_400, 3_600, 3_600]
  for (const [index, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(expected[index] ?? 0)
    expect(wait).toBeLessThan((expected[index] ?? 0) * 1.11)
  }
  const project_id = at.job.project.id
  const changed = await at.job.running.client.call('integrations.update', { project_id, owner: 'octocat' })
  expect(Date.parse(changed.next_poll_at ?? '') - Date.now()).toBeLessThanOrEqual(600_000)
})

test('neither polls nor syncs while switched off, and does again afterwards', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  const off = await at.integrate({ enabled: false, poll_interval_secs: 1 })
  expect(off).toMatchObject({ enabled: false, next_poll_at: null })
  const refusal = await refused(at.sync())
  expect({ code: refusal.code, status: refusal.status }).toEqual({ code: 'integration_disabled', status: 422 })
  expect(at.tracker.requests).toEqual([])
  await at.job.running.client.call('integrations.update', { project_id: at.job.project.id, enabled: true })
  await at.job.running.eventually(at.tasks, (tasks) => tasks.length === 1)
})

test('joins a running cycle, which continues when the caller leaves', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  await at.integrate()
  const { promise: asked, resolve: ask } = Promise.withResolvers<null>()
  const { promise: released, resolve: release } = Promise.withResolvers<null>()
  at.tracker.instead = () => {
    at.tracker.instead = null
    return (response, request) => {
      ask(null)
      void released.then(() => json(200, [{ number: 1, title: 'One' }])(response, request))
    }
  }
  const stop = new AbortController()
  const { url, token } = at.job.running
  const first = fetch(`${url}/api/v1/projects/${at.job.project.id}/integration/sync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  }).catch((error: unknown) => error)
  await asked
  expect((await at.integration()).syncing).toBe(true)
  const { api, identity } = at.job.running.app
  const { signal } = new AbortController()
  const caller = { principal: identity.localPrincipal(), signal, remote_address: null }
  const second = api.call('integrations.sync', { project_id: at.job.project.id }, caller)
  stop.abort()
  await first
  release(null)
  expect(await second).toEqual({ imported: 1, skipped: 0, errors: 0 })
  expect(at.tracker.requests).toHaveLength(1)
})

test('stops polling when deleted, keeps its links, and allows one per project', async () => {
  await using at = await startIntegrationJob()
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  const project_id = at.job.project.id
  await at.integrate()
  await at.sync()
  expect(await refusalOf(at.integrate())).toBe('integration_exists')
  await at.job.running.client.call('integrations.delete', { project_id })
  expect(await refusalOf(at.integration())).toBe('not_found')
  expect(await refusalOf(at.sync())).toBe('not_found')
  expect(await refusalOf(at.job.running.client.call('integrations.delete', { project_id }))).toBe('not_found')
  expect(await refusalOf(at.job.running.client.call('integrations.update', { project_id, enabled: false }))).toBe(
    'not_found',
  )
  expect((await at.tasks())[0]?.external_issue_number).toBe(1)
  await at.integrate()
  expect(await at.sync()).toEqual({ imported: 0, skipped: 1, errors: 0 })
})
