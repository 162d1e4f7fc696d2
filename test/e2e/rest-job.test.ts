import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'

test('registers, claims, waits on events and merges over REST', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'serve' })
  const register = { email: 'owner@copse.test', password: 'correct horse', display_name: 'Owner' }
  const session = await send(service.url, null, 'POST', '/auth/register', register)
  const token = String(session['access_token'])
  const call = (method: string, path: string, body?: object) => send(service.url, token, method, path, body)

  const project = await call('POST', '/projects', { name: 'Script', repo_path: repository.path })
  await using seen = await listenOnce()
  const agent = await call('POST', '/agents', {
    name: 'Shell',
    executor: 'command',
    config: {
      command: `cat > prompt.txt; echo "$SVC_TASK_TITLE" > title.txt; '${process.execPath}' -e '${looksUpItsTask}' '${seen.url}'; echo done`,
    },
  })
  const task = await call('POST', `/projects/${project['id']}/tasks`, {
    title: 'Write the title down',
    review_config: { ci_steps: ['test -s title.txt'] },
  })
  const claimed = await call('POST', `/tasks/${task['id']}/claim`, { agent_id: agent['id'] })
  expect(claimed).toMatchObject({ task: { status: 'in_progress' }, workspace: { status: 'ready' } })
  const { id } = claimed['execution'] as { id: string }
  expect(await seen.path).toBe(`/${id}`)

  const passed = await eventWhere(service.url, token, (type, data) => {
    const { id: of, review_passed_at, entry_barrier } = (data['task'] ?? {}) as Answer
    return type.startsWith('task.') && of === task['id'] && review_passed_at !== null && entry_barrier === false
  })
  const { version } = passed['task'] as { version: number }
  const merged = await call('POST', `/tasks/${task['id']}/transition`, { status: 'merging', version })
  expect(merged['task']).toMatchObject({ status: 'done' })
  expect(await repository.git(['show', 'main:title.txt'])).toBe('Write the title down')
  expect(JSON.parse(await repository.git(['show', 'main:me.json']))).toMatchObject({ id: task['id'] })
  expect(await repository.git(['worktree', 'list'])).not.toContain(String(task['id']))
})

/** Run by the agent: reads its own task with its own token, and reports its execution. */
const looksUpItsTask = `
  const { SVC_API_URL, SVC_API_TOKEN, SVC_TASK_ID, SVC_EXECUTION_ID } = process.env;
  fetch(SVC_API_URL + "/api/v1/tasks/" + SVC_TASK_ID, { headers: { authorization: "Bearer " + SVC_API_TOKEN } })
    .then((response) => response.text())
    .then((text) => require("node:fs").writeFileSync("me.json", text))
    .then(() => fetch(process.argv[1] + SVC_EXECUTION_ID))`

type Answer = Record<string, unknown>

async function send(url: string, token: string | null, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Answer
  expect(answer).not.toHaveProperty('error')
  return answer
}

/** The payload of the first event that matches, from the beginning on. */
async function eventWhere(url: string, token: string, fits: (type: string, data: Answer) => boolean): Promise<Answer> {
  const end = new AbortController()
  const headers = { authorization: `Bearer ${token}`, 'last-event-id': '0' }
  const response = await fetch(`${url}/api/v1/events`, { headers, signal: end.signal })
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const type = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      const payload = JSON.parse(data ?? '{}') as Answer
      if (type !== undefined && fits(type, payload)) {
        end.abort()
        return payload
      }
    }
  }
  throw new Error('The events ended.')
}

/** A server that receives one request, which proves that the agent ran with its variables. */
async function listenOnce(): Promise<AsyncDisposable & { readonly url: string; readonly path: Promise<string> }> {
  const path = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    path.resolve(request.url ?? '')
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    path: path.promise,
    [Symbol.asyncDispose]: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
