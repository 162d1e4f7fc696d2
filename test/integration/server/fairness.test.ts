import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { prepareDataDir } from '../../../src-main/platform/config/paths.ts'
import { AgentId, ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { here, lasting, person } from '../identity/open-identity.ts'
import { openServer, type OpenServer } from './open-server.ts'

/** Another person's token. */
async function anotherToken({ identity }: OpenServer): Promise<string> {
  const registered = await identity.register(person('other@example.com'), here)
  return identity.tokens.create(registered.user.id, lasting('tests')).token
}

test('limits a person to 256 event streams, without limiting others', async () => {
  await using server = await openServer()
  const other = await anotherToken(server)
  const agent = server.identity.agentTokens.mint({
    agent_id: AgentId.parse(v7()),
    project_id: ProjectId.parse(v7()),
    task_id: TaskId.parse(v7()),
    execution_id: ExecutionId.parse(v7()),
  })
  server.api.feed = async function* (_after, signal) {
    yield { kind: 'begun', seq: 1 }
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  const end = new AbortController()
  const open = (token?: string) =>
    server.request('/api/v1/events', { signal: end.signal, ...(token !== undefined && { token }) })
  const opened = await Promise.all(Array.from({ length: 256 }, () => open()))
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]))
  const refused = await open()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
  expect([(await open(other)).status, (await open(agent)).status]).toEqual([200, 200])
  await opened[0]?.body?.cancel()
  await expect.poll(async () => (await open()).status).toBe(200)
  end.abort()
})

/** The status of one request over a connection that stays open afterwards. */
function statusOver(agent: Agent, url: string, token: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/v1/auth/me`, { agent, headers: { authorization: `Bearer ${token}` } })
    asked.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    asked.on('error', reject).end()
  })
}

test('reserves the last tenth of connections for clients with few', async () => {
  const patience = { requests: 10_000, failures: 1_000, headersMs: 10_000, requestMs: 30_000, stallMs: 30_000 }
  await using server = await openServer({ limits: { ...patience, connections: 60 } })
  const other = await anotherToken(server)
  const [greedy, modest] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })]
  try {
    const answers = await Promise.all(Array.from({ length: 58 }, () => statusOver(greedy, server.url, server.token)))
    // 54 are for everyone, including earlier ones of the test itself; then a new client already has ten.
    const refused = answers.filter((status) => status === 429).length
    expect([refused >= 4, refused <= 8]).toEqual([true, true])
    expect(await statusOver(modest, server.url, other)).not.toBe(429)
    expect(await statusOver(new Agent(), server.url, server.token)).toBe(429)
  } finally {
    greedy.destroy()
    modest.destroy()
  }
})

test.skipIf(process.platform === 'win32')('restricts a data folder that others can read', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-data-'))
  try {
    await chmod(dataDir, 0o755)
    prepareDataDir(dataDir)
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
  } finally {
    await rm(dataDir, { recursive: true })
  }
})
