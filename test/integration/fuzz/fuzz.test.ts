import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { createOpenApi } from '../../../src-shared/contract/openapi.ts'
import { startJob } from '../../helpers/job.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'
import { createFuzz, targetsOf, type FuzzRequest } from './fuzz-requests.ts'
import { present } from '../../helpers/present.ts'

/** Each of these starts programs, creates repositories, or ends what the others use. */
const spared = new Set([
  ...['demo.create', 'agents.detect', 'projects.test_hook', 'projects.delete', 'tasks.delete', 'tasks.cancel'],
  ...['agents.delete', 'daemons.delete', 'comments.delete', 'executions.stop', 'repos.remove'],
])

const count = Number(process.env['COPSE_FUZZ'] ?? 1_500)
const seed = Number(process.env['COPSE_FUZZ_SEED'] ?? 7)

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

function send(url: string, agent: Agent, { method, path, headers, body }: FuzzRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      method,
      agent,
      headers: { ...headers, ...(body && { 'content-length': body.length }) },
    })
    sent.on('response', (response) => {
      const answer = (text: string) => resolve({ status: response.statusCode ?? 0, text, headers: response.headers })
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        response.destroy()
        answer('')
        return
      }
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () => answer(text))
      response.on('error', reject)
    })
    // The answer to a body that is refused unread comes first, then the connection ends.
    sent.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET'
        ? resolve({ status: 413, text: '{"error":{"code":"payload_too_large","message":"-"}}', headers: {} })
        : reject(error),
    )
    sent.end(body ?? undefined)
  })
}

/** The fault of an answer; null for none. */
function complaint({ status, text, headers }: Answer, method: string): string | null {
  if (status >= 500 && status !== 502) return `status ${status}: ${text.slice(0, 300)}`
  if (/\n\s+at .*:\d+:\d+/.test(text) && status >= 400) return `a stack trace: ${text.slice(0, 300)}`
  if (status < 400 || method === 'HEAD') return null
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown }; jsonrpc?: unknown }
    const isOurs = typeof error?.message === 'string' && error.message !== ''
    if (!isOurs) return `no error body: ${text.slice(0, 300)}`
    return status === 401 && headers['www-authenticate'] !== 'Bearer' ? 'a 401 without WWW-Authenticate' : null
  } catch (error) {
    return `no JSON (${String(error)}): ${text.slice(0, 300)}`
  }
}

test(
  `answers ${count} invalid requests of every kind clearly, with tokens and without`,
  { timeout: 240_000 + count * 60 },
  async () => {
    await using job = await startJob()
    const { client, url, token } = job.running
    const task = await job.task()
    const agent = await client.call('agents.create', { name: 'A', executor: 'external' })
    const comment = await client.call('comments.create', { task_id: task.id, body: 'B' })
    const pat = await client.call('auth.create_token', { name: 'fuzz' })
    const { daemon, token: daemonToken } = await client.call('daemons.create', { name: 'fuzz' })
    const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const me = await client.call('auth.me', {})
    const ids = {
      project_id: job.project.id,
      task_id: task.id,
      agent_id: agent.id,
      comment_id: comment.id,
      daemon_id: daemon.id,
      execution_id: present(execution).id,
      user_id: me.id,
      repo_id: job.project.repos[0]?.id ?? '',
    }
    const document = createOpenApi('0.0.0')
    const components = (document as { components: { schemas: Record<string, Record<string, unknown>> } }).components
      .schemas
    const random = seededRandom(seed)
    const fuzz = createFuzz(random, components, { ids, tokens: [token, pat.token, daemonToken] })
    const targets = targetsOf(document).filter(({ id }) => !spared.has(id))
    const agentPool = new Agent({ keepAlive: true, maxSockets: 8 })
    const complaints: string[] = []
    const statuses = new Map<number, number>()
    let left = count
    const worker = async () => {
      while (left-- > 0) {
        const target = random.pick(targets)
        const made = fuzz(target)
        const answer = await send(url, agentPool, made)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const wrong = complaint(answer, made.method)
        if (wrong !== null)
          complaints.push(
            `${target.id} ${made.method} ${made.path.slice(0, 200)} ${made.body?.subarray(0, 300).toString() ?? ''}: ${wrong}`,
          )
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    // A too large body is so rare that a seed can miss it.
    const large: FuzzRequest = {
      method: 'POST',
      path: '/api/v1/projects',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: Buffer.alloc(6 * 1024 * 1024, 0x20),
    }
    statuses.set((await send(url, agentPool, large)).status, 1)
    agentPool.destroy()
    expect(complaints.slice(0, 20)).toEqual([])
    // It reached the handlers and was refused for more than one reason.
    expect([...statuses.keys()].toSorted()).toEqual(expect.arrayContaining([200, 400, 401, 404, 413, 415]))
    expect((await client.call('system.get', {})).version).toBe('0.0.0-test')
  },
)
