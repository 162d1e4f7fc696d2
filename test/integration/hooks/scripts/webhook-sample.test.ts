import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test, vi } from 'vitest'
import { startJob } from '../../../helpers/job.ts'
import { ended, hookRunWhere } from '../../../helpers/lifecycle.ts'
import { readSamples, sampleScript } from './hooks-page.ts'

const heading = 'Post to a webhook on done'
const secret = 'shared by both'
const title = 'Say "hello" to $USER\\n & `all` — ünïcode'

afterEach(() => vi.unstubAllEnvs())

type Answer = (response: ServerResponse, request: IncomingMessage) => void
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end()

/** A receiver that answers each post in turn like this, repeating the last answer; keeps correctly signed bodies. */
async function startReceiver(...answers: readonly Answer[]) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const [, at, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(request.headers['x-copse-signature'])) ?? []
      const expected = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
      const isFresh = Math.abs(Date.now() / 1000 - Number(at)) < 300
      bodies.push(signature === expected && isFresh ? body : 'signed badly')
      ;(answers[bodies.length - 1] ?? answers.at(-1) ?? status(204))(response, request)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    bodies,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** Runs the sample's script like a hook with short pauses, and returns its delivery log. */
async function deliver(url: string, more: Record<string, string | undefined> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'copse-webhook-'))
  try {
    await writeFile(join(folder, 'post-webhook.mjs'), sampleScript(heading))
    const child = spawn(process.execPath, ['post-webhook.mjs'], {
      cwd: folder,
      env: {
        TEAM_WEBHOOK: url,
        TEAM_WEBHOOK_SECRET: secret,
        WEBHOOK_PAUSE_MS: '1',
        SVC_EVENT: 'on_task_done',
        SVC_TASK_ID: 't1',
        SVC_TASK_TITLE: title,
        SVC_TASK_STATUS: 'done',
        SVC_PROJECT_ID: 'p1',
        ...more,
      },
    })
    const [out, problems, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    const log = out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { attempt: number; status?: number; error?: string; delivery: string })
    return { code: code as number, log, problems }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
const story = (log: readonly { status?: number; error?: string }[]) => log.map((line) => line.status ?? line.error)

test('sends the same signed text again after a failure, and logs each attempt', async () => {
  await using receiver = await startReceiver(status(500), status(429, { 'retry-after': '3600' }), status(204))
  const { code, log } = await deliver(receiver.url)
  expect([code, story(log)]).toEqual([0, [500, 429, 204]])
  expect(log.map(({ attempt, delivery }) => [attempt, delivery])).toEqual(
    [1, 2, 3].map((attempt) => [attempt, 'on_task_done:t1']),
  )
  const body = {
    delivery: 'on_task_done:t1',
    event: 'on_task_done',
    project_id: 'p1',
    task: { id: 't1', title, status: 'done' },
  }
  expect(receiver.bodies.map((one) => JSON.parse(one) as unknown)).toEqual([body, body, body])
})

test('gives up a receiver that hangs, hangs up, or never ends its answer', async () => {
  await using receiver = await startReceiver(
    () => undefined,
    (_, request) => request.socket.destroy(),
    (response) => {
      response.writeHead(200, { 'content-length': '1000000' })
      response.write('so far')
    },
  )
  const { code, log } = await deliver(receiver.url, { WEBHOOK_TIMEOUT_MS: '2000' })
  expect([code, story(log)]).toEqual([0, ['TimeoutError', 'UND_ERR_SOCKET', 200]])
})

test('neither repeats nor follows a refusal or a redirect', async () => {
  await using elsewhere = await startReceiver(status(204))
  await using receiver = await startReceiver(status(307, { location: elsewhere.url }), status(404))
  for (const answer of [307, 404]) {
    const { code, log } = await deliver(receiver.url)
    expect([code, story(log)]).toEqual([1, [answer]])
  }
  expect(elsewhere.bodies).toEqual([])
})

test('fails after five attempts without naming the address', async () => {
  await using receiver = await startReceiver(status(503))
  const { code, log, problems } = await deliver(receiver.url)
  expect([code, story(log), problems]).toEqual([1, [503, 503, 503, 503, 503], ''])
  const closed = await startReceiver()
  await closed[Symbol.asyncDispose]()
  const away = await deliver(closed.url)
  expect([away.code, new Set(story(away.log))]).toEqual([1, new Set(['ECONNREFUSED'])])
  expect(JSON.stringify(away)).not.toContain(closed.url)
})

test('says what to set without its secret, and posts nothing', async () => {
  await using receiver = await startReceiver(status(204))
  const { code, problems } = await deliver(receiver.url, { TEAM_WEBHOOK_SECRET: undefined })
  expect([code, problems.includes('Set TEAM_WEBHOOK and TEAM_WEBHOOK_SECRET')]).toEqual([1, true])
  expect(receiver.bodies).toEqual([])
})

test('sample: notifies a webhook of a finished task with any title', async () => {
  await using receiver = await startReceiver(status(204))
  vi.stubEnv('TEAM_WEBHOOK', receiver.url)
  vi.stubEnv('TEAM_WEBHOOK_SECRET', secret)
  await using job = await startJob({
    files: { 'README.md': '# A\n', 'scripts/post-webhook.mjs': sampleScript(heading) },
  })
  const lifecycle_hooks = readSamples().get(heading)
  if (!lifecycle_hooks) throw new Error('The page has no such sample.')
  await job.settings({ lifecycle_hooks })
  const task = await job.task({ title })
  await job.claim(task, await job.agent('echo work > work.txt'))
  const { version } = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  const run = await hookRunWhere(job, task.id, ended('on_task_done'))
  expect([run.status, run.stderr, JSON.parse(run.stdout)]).toMatchObject(['succeeded', '', { attempt: 1, status: 204 }])
  expect(JSON.parse(receiver.bodies[0] ?? '')).toMatchObject({ task: { id: task.id, title, status: 'done' } })
})
