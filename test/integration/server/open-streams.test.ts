import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'

/** Reads server-sent events until the stream ends or `until` is satisfied by all text so far. */
async function readStream(job: Job, path: string, token: string, until: (text: string) => boolean): Promise<string> {
  const response = await fetch(`${job.running.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(30_000),
  })
  expect(response.status).toBe(200)
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (until(text)) break
  }
  return text
}

test.concurrent('keeps the stream of a queued run open, and goes on with its output', async () => {
  await using job = await startJob()
  await job.settings({ max_concurrent_executions: 1 })
  const { client, token } = job.running
  const go = `${job.repository.beside}/go`
  const first = await job.task({ title: 'First' })
  await job.claim(first, await job.agent(`while [ ! -e '${go}' ]; do sleep 0.02; done; echo first`))
  const second = await job.task({ title: 'Second' })
  const { execution } = await job.claim(second, await job.agent('echo from the second', 'Second'))
  expect((await client.call('executions.get', { execution_id: execution.id })).status).toBe('queued')
  const opened = Promise.withResolvers<void>()
  const whole = readStream(job, `/executions/${execution.id}/stream`, token, (text) => {
    if (text.includes(': open')) opened.resolve()
    return false
  })
  await opened.promise
  await job.repository.write({ go: '' }, job.repository.beside)
  const text = await whole
  expect(text).toContain('from the second')
  expect(text.trim().endsWith('event: end\ndata: {}')).toBe(true)
})

test.concurrent.for(['session', 'token'])('tells nothing more to a stream whose %s has ended', async (what) => {
  await using job = await startJob()
  const { client, clientWith } = job.running
  const email = 'owner@copse.test'
  const signedIn = await clientWith(null).call('auth.login', { email, password: 'correct horse' })
  const mine = clientWith(signedIn.access_token)
  const made = what === 'token' ? await mine.call('auth.create_token', { name: 'Reader' }) : null
  const opened = Promise.withResolvers<void>()
  const whole = readStream(job, '/events', made?.token ?? signedIn.access_token, (seen) => {
    if (seen.includes('Before the end')) opened.resolve()
    else if (seen.includes('id: ')) void job.task({ title: 'Before the end' })
    return false
  })
  await opened.promise
  if (made) await mine.call('auth.delete_token', { token_id: made.id })
  else await mine.call('auth.logout', { refresh_token: signedIn.refresh_token })
  await client.call('tasks.create', { project_id: job.project.id, title: 'After the end' })
  expect(await whole).not.toContain('After the end')
})
