import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Logger } from '../../../src-main/platform/logging/log.ts'
import { createServer } from '../../../src-main/server/create-server.ts'
import { startHelper } from '../../bench/child.ts'
import type { SubscribersRequest } from '../../bench/subscribers.ts'
import { heldBytes } from '../../helpers/held-memory.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'

/** For each of two people, because one is limited to 256. */
const subscribers = 250
const events = 40
/** The memory that may be held in the end beyond the beginning. */
const growthBytes = 8 * 1024 * 1024

test('drops one of five hundred subscribers that stops reading, and serves the others', async () => {
  await using job = await startJob()
  const { client, token } = job.running
  const said = createLogLines()
  await using door = await openDoor(job, said.log)
  const path = `/api/v1/events?project_id=${job.project.id}`
  await using crowd = startHelper<SubscribersRequest, number>(new URL('../../bench/subscribers.ts', import.meta.url))
  for (const one of [token, await memberToken(job)]) {
    await crowd.ask({ kind: 'open', url: door.url, token: one, path, count: subscribers })
  }
  const task = await job.task({ title: 'Changes all the time' })
  const round = async () => {
    const heard = crowd.ask({ kind: 'collect', events })
    for (let number = 0; number < events; number++) {
      await client.call('tasks.update', { task_id: task.id, title: `Changed for the ${number}th time` })
    }
    await heard
  }
  await round()
  const before = heldBytes()

  const beside = await client.call('projects.create', { name: 'Beside', repo_path: job.repository.path })
  const large = await client.call('tasks.create', {
    project_id: beside.id,
    title: 'Large',
    description: 'x'.repeat(900_000),
  })
  const stopped = await listenAndStop(door.url, token, `/api/v1/events?project_id=${beside.id}`)
  // More than the kernel buffers at both ends of a connection.
  for (let number = 0; number < 30; number++) {
    await client.call('tasks.update', { task_id: large.id, title: `Unheard ${number}` })
  }
  await round()
  await said.line('event stream dropped: its client stopped reading')
  stopped.destroy()
  // Its unsent events are dropped with the connection, whose end the service notices in its own time.
  await expect.poll(() => heldBytes() - before).toBeLessThan(growthBytes)
})

/** Another person who sees the project. */
async function memberToken({ running, project }: Job): Promise<string> {
  const person = { email: 'second@copse.test', password: 'another horse', display_name: 'Second' }
  const { access_token, user } = await running.clientWith(null).call('auth.register', person)
  await running.client.call('members.add', { project_id: project.id, user_id: user.id, role: 'member' })
  return access_token
}

/** Another HTTP server on the same service, with a short patience. */
async function openDoor({ running }: Job, log: Logger) {
  const { api, identity } = running.app
  const server = createServer({
    api,
    identity,
    log,
    config: {
      host: '127.0.0.1',
      port: 0,
      version: '0.0.0-test',
      webRoot: null,
      sse: { keepAliveMs: 15_000, stallMs: 300 },
    },
  })
  return { url: await server.listen(), [Symbol.asyncDispose]: () => server.close() }
}

async function listenAndStop(url: string, token: string, path: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`)
  await once(socket, 'data')
  return socket.pause()
}
