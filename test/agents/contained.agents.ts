import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, request as asRequest } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { readMachine } from '../../src-main/containment/machine.ts'
import { scripted } from '../fakes/model-server.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { agentBinary } from './agent-binaries.ts'
import { createAgentBench, type AgentBench } from './agent-bench.ts'
import { agentSetups, type AgentSetup } from './agent-setups.ts'
import { passAfterRefusal } from './refused-job.ts'
import { present } from '../helpers/present.ts'

const within = process.platform === 'win32' ? tmpdir() : '/var/tmp'

const claudeCode: AgentSetup = {
  name: 'Claude Code',
  executor: 'claude-code',
  configure: async (bench) => {
    // Its settings are in their usual place: a folder and a file in the home folder.
    const { CLAUDE_CONFIG_DIR: _elsewhere, ...env } = bench.env
    return { command: await agentBinary('claude-code'), model: 'fake-1', env }
  },
}
const setups = [claudeCode, ...agentSetups]

/** A proxy behind which every host is the model server, under a name that only the machine's proxy knows. */
async function startProxy(model: string): Promise<AsyncDisposable & { readonly url: string }> {
  const { port } = new URL(model)
  const proxy = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^http:\/\/[^/]+/, '')
    const { method, headers } = request
    request.pipe(
      asRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }),
    )
  })
  proxy.on('connect', (_request, socket) => {
    const to = connect(Number(port), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const one of [socket, to]) one.on('error', () => undefined)
    socket.pipe(to).pipe(socket)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

async function setUp(setup: AgentSetup, bench: AgentBench, { client }: RunningApp, more: AgentConfig = {}) {
  const project = await client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
  const config = { ...(await setup.configure(bench)), containment: 'worktree' as const, ...more }
  const agent = await client.call('agents.create', { name: setup.name, executor: setup.executor, config })
  return { project, agent }
}

describe.runIf(readMachine().available).each(setups)('$name, contained', (setup) => {
  test('does the main job with feedback in one session, and reaches nothing else', async () => {
    await using bench = await createAgentBench({ within })
    await using running = await runApp()
    const { client, dataDir } = running
    const { project, agent } = await setUp(setup, bench, running)
    const home = bench.env['HOME'] ?? ''
    await writeFile(join(dataDir, 'secret'), 'not for runs')
    const spy = `cat ${dataDir}/secret > spied.txt; echo escaped > ${home}/escaped; git log -1 --format=%s > log.txt; mktemp > temporary.txt`
    const steps = [
      { write: { path: 'greet.txt', content: 'hello\n' } },
      { shell: spy },
      { tool: { name: 'svc_get_task_diff', args: {} } },
      { say: 'greet.txt is there.' },
    ]
    const task = await passAfterRefusal(bench, running, { project_id: project.id, agent_id: agent.id, steps })
    const workspace = await client.call('tasks.workspace', { task_id: task.id })
    const read = (name: string) => readFileSync(join(workspace.path, name), 'utf8')
    expect([read('spied.txt'), read('temporary.txt')]).toEqual(['', expect.stringContaining('/copse-run-')])
    expect(read('log.txt')).not.toBe('')
    expect(existsSync(join(home, 'escaped'))).toBe(false)
    const { version } = task
    const merged = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
    expect(merged.task.status).toBe('done')
    expect(await bench.repository.git(['show', 'main:second.txt'])).toBe('second')
    const { items } = await client.call('tasks.executions', { task_id: task.id })
    expect(items.map((one) => one.containment)).toEqual(items.map(() => 'worktree'))
    expect(new Set(items.map((one) => one.session_id)).size).toBe(1)
  })

  test('is stopped and resumed in its session', async () => {
    await using bench = await createAgentBench({ within })
    await using running = await runApp()
    const { client } = running
    const { project, agent } = await setUp(setup, bench, running)
    const task = await client.call('tasks.create', {
      project_id: project.id,
      title: 'Never end',
      description: scripted('Write half.txt, then wait.', [
        { write: { path: 'half.txt', content: 'half\n' } },
        { shell: 'tail -f /dev/null' },
      ]),
    })
    const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await bench.model.waitForCall((call) => call.index === 1)
    await client.call('executions.stop', { execution_id: present(execution).id })
    await client.call('tasks.update', {
      task_id: task.id,
      description: scripted('Finish it.', [{ say: 'half.txt is whole now.' }]),
    })
    await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
    // Some also ask the model for a session title.
    await bench.model.waitForCall(({ said }) => said.includes('Finish it.') && said.includes('Write half.txt, then'))
    const done = await running.eventually(
      () => client.call('tasks.executions', { task_id: task.id }),
      ({ items }) => items[0]?.status === 'succeeded',
    )
    expect(new Set(done.items.map((one) => one.session_id)).size).toBe(1)
  })
})

describe.runIf(readMachine().available).each(setups)('$name, contained to its hosts', (setup) => {
  test('reaches its model, Copse and its allowed hosts, and no other', async () => {
    await using bench = await createAgentBench({ within })
    await using proxy = await startProxy(bench.model.url)
    // Replaces the address, which is one of this machine.
    const named = { ...bench, model: { ...bench.model, url: 'http://model.test' } }
    const env = { ...bench.env, ANTHROPIC_BASE_URL: 'http://model.test' }
    const before = process.env['HTTP_PROXY']
    process.env['HTTP_PROXY'] = proxy.url
    try {
      await using running = await runApp()
      const { client } = running
      const allowed = { containment: 'worktree_and_hosts' as const, allowed_hosts: ['model.test'] }
      const { project, agent } = await setUp(setup, { ...named, env }, running, allowed)
      const task = await client.call('tasks.create', {
        project_id: project.id,
        title: 'Look around',
        description: scripted('Look around.', [
          { shell: 'curl -s -m 5 http://other.test/ > other.txt; echo seen > seen.txt' },
          { tool: { name: 'svc_get_task_diff', args: {} } },
          { say: 'I looked around.' },
        ]),
      })
      const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      await bench.model.waitForCall(({ index }) => index === 2)
      await running.taskWhere(task.id, (one) => one.review_summary !== null)
      const denied = await deniedIn(running, present(execution).id)
      expect(denied.filter(({ what }) => what === 'host').map(({ target }) => target)).toContain('other.test')
      expect(denied.map(({ target }) => target)).not.toContain('model.test')
    } finally {
      if (before === undefined) delete process.env['HTTP_PROXY']
      else process.env['HTTP_PROXY'] = before
    }
  })
})

async function deniedIn({ client }: RunningApp, execution_id: string) {
  const found: Extract<TranscriptEntry, { type: 'denied' }>[] = []
  for await (const item of client.transcript({ execution_id }, null, AbortSignal.timeout(30_000)))
    if (item.kind === 'entry' && item.entry.type === 'denied') found.push(item.entry)
  return found
}
