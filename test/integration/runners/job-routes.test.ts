import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Elsewhere } from '../../../src-main/places/remote/remote-place.ts'
import { jobProtocol, type JobOffer } from '../../../src-shared/contract/jobs.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { remoteKinds } from '../../helpers/far-job.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { addRunner } from '../../helpers/test-runners.ts'

interface Answer {
  readonly status: number
  readonly code: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
}

/** A runner of which this test is the program: it says what it wants, at the wrong time too. */
interface ScriptedRunner extends AsyncDisposable {
  readonly job: Job
  call(path: string, body: unknown, token?: string | null): Promise<Answer>
  /** Sends bytes of a log. */
  put(offer: JobOffer, offset: number, text: string): Promise<Answer>
  report(instance: string, protocol?: number): Promise<Answer>
}

async function startScripted(): Promise<ScriptedRunner> {
  await using made = new AsyncDisposableStack()
  let far: Elsewhere | undefined
  const job = made.use(
    await startJob({
      runnerKinds: remoteKinds((elsewhere) => (far = elsewhere)),
    }),
  )
  const runner_id = (await addRunner(job.running, 'Far')).id as RunnerId
  await job.settings({ runner_ids: [runner_id] })
  const own = far?.tokens.make(runner_id).token ?? expect.unreachable()
  const send = async (path: string, method: string, type: string, body: string, token: string | null) => {
    const headers = { 'content-type': type, ...(token !== null && { authorization: `Bearer ${token}` }) }
    const answer = await fetch(`${job.running.url}/api/v1${path}`, { method, headers, body })
    const text = await answer.text()
    const read = (text === '' ? {} : JSON.parse(text)) as Answer['body']
    const error = (read['error'] ?? {}) as { code?: string; details?: Answer['details'] }
    return { status: answer.status, code: error.code ?? null, details: error.details ?? {}, body: read }
  }
  const call: ScriptedRunner['call'] = (path, body, token = own) =>
    send(path, 'POST', 'application/json', JSON.stringify(body), token)
  const owned = made.move()
  return {
    job,
    call,
    put: ({ job_id, token, fence }, offset, text) =>
      send(`/jobs/${job_id}/logs/raw?offset=${offset}&fence=${fence}`, 'PUT', 'application/octet-stream', text, token),
    report: (instance, protocol = jobProtocol) => call('/runner/report', { instance, protocol, wait_seconds: 10 }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const wholeEnd = { exit_code: 0, session_id: null, usage: null, outcome: null, message: null, refs: {}, left_there: [] }

test('takes each word of a runner once, from the one that has the job', async () => {
  await using far = await startScripted()
  const { job, call, put, report } = far
  const agent = await job.agent('true')
  const task = await job.task()
  const claimed = job.claim(task, agent)
  const instance = randomUUID()
  const given = (await report(instance)).body['jobs'] as readonly JobOffer[]
  const offer = given[0] ?? expect.unreachable()
  const { job_id, token, fence } = offer
  const say = (verb: string, body: object, as: string | null = token) => call(`/jobs/${job_id}/${verb}`, body, as)

  // Another program, version or token has no say.
  expect(await report(randomUUID())).toMatchObject({ status: 409, code: 'runner_taken' })
  expect(await report(instance, jobProtocol + 1)).toMatchObject({ status: 409, code: 'runner_version' })
  const accept = { fence, instance, protocol: jobProtocol }
  expect(await say('accept', { ...accept, protocol: jobProtocol + 1 })).toMatchObject({ code: 'runner_version' })
  for (const other of [null, `job_${'x'.repeat(43)}`, job.running.token])
    expect((await say('accept', accept, other)).status).toBe(401)
  expect((await call('/runner/report', { instance, protocol: jobProtocol, wait_seconds: 0 }, token)).status).toBe(401)
  // The job's token opens nothing else.
  const elsewhere = await fetch(`${job.running.url}/api/v1/tasks/${task.id}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(elsewhere.status).toBe(401)

  // The offer is made again until it is accepted, each time with a new fence.
  const again = (await report(instance)).body['jobs'] as readonly JobOffer[]
  expect(await say('accept', accept)).toMatchObject({ status: 409, code: 'lease_lost' })
  const held = again[0] ?? expect.unreachable()
  const speak = (verb: string, body: object) => call(`/jobs/${job_id}/${verb}`, body, held.token)
  const taking = { ...accept, fence: held.fence }
  expect((await speak('accept', taking)).status).toBe(200)
  // Its answer may have been lost; another program's can't have been.
  expect((await speak('accept', taking)).status).toBe(200)
  expect(await speak('accept', { ...taking, instance: randomUUID() })).toMatchObject({ code: 'lease_lost' })
  const { execution } = await claimed
  const linked = () => job.running.client.call('executions.get', { execution_id: execution.id })
  const { link } = await job.running.eventually(linked, ({ link: now }) => now !== null)
  expect(link?.state).toBe('connected')

  const now = new Date().toISOString()
  const beat = await speak('beat', { fence: held.fence, seen: 0, now })
  expect(beat.body).toEqual({ action: 'continue', inputs: [] })

  // A log is taken once, whatever is repeated.
  expect((await put(held, 0, 'hello\n')).status).toBe(204)
  expect(await put(held, 0, 'hello\n')).toMatchObject({ code: 'offset_mismatch', details: { expected: 6 } })
  expect(await put(offer, 6, 'forged')).toMatchObject({ code: 'lease_lost' })

  // The end waits for what it names, and may be said twice.
  const finish = { fence: held.fence, status: 'done', ...wholeEnd }
  expect(await speak('finish', { ...finish, logs: { raw: 12 } })).toMatchObject({
    status: 409,
    code: 'not_arrived',
    details: { logs: { raw: 6 } },
  })
  const ghost = { 'refs/svc/live/snapshot': '1'.repeat(40) }
  expect(await speak('finish', { ...finish, logs: {}, refs: ghost })).toMatchObject({
    code: 'not_arrived',
    details: { refs: Object.keys(ghost) },
  })
  expect((await put(held, 6, 'world\n')).status).toBe(204)
  const end = { ...finish, status: 'failed', message: 'It broke.', logs: { raw: 12 } }
  expect((await speak('finish', end)).status).toBe(200)
  expect((await speak('finish', end)).status).toBe(200)
  expect(await speak('beat', { fence: held.fence, seen: 0, now })).toMatchObject({ code: 'lease_lost' })
  const { items } = await job.running.client.call('tasks.executions', { task_id: task.id })
  await job.running.eventually(
    () => job.running.client.call('executions.get', { execution_id: items[0]?.id ?? '' }),
    ({ status }) => status === 'failed',
  )
})
