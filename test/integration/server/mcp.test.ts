import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { v7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { AgentId } from '../../../src-shared/contract/ids.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { openServer } from './open-server.ts'
import type { OpenServer } from './open-server.ts'

const modes = ['legacy', 'auto'] as const

async function connectTo(server: OpenServer, mode: (typeof modes)[number], token = server.token) {
  const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/api/v1/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  return {
    client,
    call: async (name: string, args: Record<string, unknown> = {}) => {
      const result = await client.callTool({ name, arguments: args })
      const [content] = result.content
      if (content?.type !== 'text') throw new Error('a tool answers text')
      return { isError: result.isError === true, value: JSON.parse(content.text) as unknown, result }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function bind(server: OpenServer, task: Task) {
  const execution = server.api.addExecution(task, 'command')
  return server.identity.agentTokens.mint({
    agent_id: AgentId.parse(v7()),
    project_id: task.project_id,
    task_id: task.id,
    execution_id: execution.id,
  })
}

describe.each(modes)('a client in mode %s', (mode) => {
  test('speaks the newest protocol that it knows, and describes every tool', async () => {
    await using server = await openServer()
    await using mcp = await connectTo(server, mode)
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25')
    const { tools } = await mcp.client.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'svc_add_comment',
      'svc_add_dependency',
      'svc_assign_agent',
      'svc_await_run',
      'svc_create_task',
      'svc_finish_execution',
      'svc_get_pull_request',
      'svc_get_task',
      'svc_get_task_chapters',
      'svc_get_task_diff',
      'svc_heartbeat',
      'svc_list_agents',
      'svc_list_comments',
      'svc_list_dependencies',
      'svc_list_projects',
      'svc_list_tasks',
      'svc_move_task',
      'svc_propose_chapters',
      'svc_remove_dependency',
      'svc_reply_to_thread',
      'svc_stop_execution',
      'svc_submit_for_review',
      'svc_submit_verdict',
      'svc_update_task',
    ])
    // An agent that lists the tools pays for all of them before it uses the first.
    const bytes = Buffer.byteLength(JSON.stringify({ tools }))
    expect(bytes).toBeLessThanOrEqual(23_400)
    const create = tools.find(({ name }) => name === 'svc_create_task')
    expect(create?.inputSchema).toMatchObject({ type: 'object', required: ['title'] })
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect((description ?? '').length, name).toBeGreaterThan(80)
      expect(outputSchema !== undefined, name).toBe(['svc_await_run', 'svc_heartbeat'].includes(name))
      expect(inputSchema, name).toMatchObject({ additionalProperties: false })
      const reads = /^svc_(get|list|await)_/.test(name)
      expect(annotations, name).toMatchObject({ readOnlyHint: reads, openWorldHint: false })
      expect(annotations?.destructiveHint, name).toBe(name === 'svc_update_task')
    }
  })

  test('creates a task in the only project and reads it back', async () => {
    await using server = await openServer()
    const project = server.api.addProject('One')
    await using mcp = await connectTo(server, mode)
    const created = await mcp.call('svc_create_task', { title: 'Do it', description: 'All of it' })
    expect(created).toMatchObject({ isError: false, value: { title: 'Do it', project_id: project.id } })
    const { id } = created.value as Task
    const read = await mcp.call('svc_get_task', { task_id: id })
    expect(read.value).toEqual(created.value)
    expect(read.result.structuredContent).toEqual(created.value)
  })

  test('reports an API error as a tool error with code and message', async () => {
    await using server = await openServer()
    await using mcp = await connectTo(server, mode)
    const task_id = v7()
    const rest = await server.request(`/api/v1/tasks/${task_id}`)
    expect(await mcp.call('svc_get_task', { task_id })).toMatchObject({ isError: true, value: await rest.json() })
    const invalid = await mcp.call('svc_create_task', {})
    expect(invalid).toMatchObject({ isError: true, value: { error: { code: 'validation_failed' } } })
  })
})

test('lists the projects to choose from if there are several', async () => {
  await using server = await openServer()
  await using mcp = await connectTo(server, 'auto')
  expect((await mcp.call('svc_list_tasks')).value).toMatchObject({ error: { code: 'validation_failed' } })
  const projects = ['One', 'Two'].map((name) => server.api.addProject(name))
  const { isError, value } = await mcp.call('svc_list_tasks')
  expect(isError).toBe(true)
  expect(value).toMatchObject({
    error: {
      code: 'validation_failed',
      message: expect.stringContaining(`${projects[1]?.id} (Two)`),
      details: { projects: projects.map(({ id, name }) => ({ id, name })) },
    },
  })
  expect((await mcp.call('svc_list_tasks', { project_id: projects[0]?.id })).isError).toBe(false)
})

test('uses an agent’s own project, task and execution by default', async () => {
  await using server = await openServer()
  server.api.addProject('Other')
  const project = server.api.addProject('Mine')
  const task = server.api.addTask(project, 'in_progress')
  await using mcp = await connectTo(server, 'auto', bind(server, task))
  expect((await mcp.call('svc_get_task')).value).toMatchObject({ id: task.id })
  expect((await mcp.call('svc_create_task', { title: 'Follow up' })).value).toMatchObject({ project_id: project.id })
  expect((await mcp.call('svc_heartbeat')).value).toMatchObject({ execution: { id: task.active_execution_id } })
  expect(server.api.calls.at(-1)?.context.principal).toMatchObject({ kind: 'agent', task_id: task.id })
})

test('submits a local task by a move, and a remote one by finishing its execution', async () => {
  await using server = await openServer()
  const project = server.api.addProject('One')
  const here = server.api.addTask(project, 'in_progress')
  await using agent = await connectTo(server, 'auto', bind(server, here))
  expect((await agent.call('svc_submit_for_review', { summary: 'Done' })).value).toMatchObject({
    task: { id: here.id, status: 'review' },
  })
  expect(server.api.calls.at(-1)).toMatchObject({
    name: 'tasks.transition',
    input: { status: 'review', version: 1, reason: 'Done' },
  })
  const elsewhere = server.api.addTask(project, 'in_progress')
  server.api.addExecution(elsewhere, 'external')
  await using owner = await connectTo(server, 'auto')
  await owner.call('svc_submit_for_review', { task_id: elsewhere.id })
  expect(server.api.calls.at(-1)).toMatchObject({ name: 'executions.finish', input: { status: 'succeeded' } })
  const waiting = server.api.addTask(project, 'review')
  expect((await owner.call('svc_submit_for_review', { task_id: waiting.id })).value).toMatchObject({
    error: { code: 'invalid_transition' },
  })
})

test('accepts the token in the query, and challenges without one', async () => {
  await using server = await openServer()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  const ask = (query: string) =>
    server.request(`/api/v1/mcp${query}`, {
      method: 'POST',
      body,
      token: null,
      headers: { accept: 'application/json, text/event-stream' },
    })
  const accepted = await ask(`?token=${server.token}`)
  expect(accepted.status).toBe(200)
  expect(await accepted.text()).toContain('svc_create_task')
  const refused = await ask('')
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  expect((await ask('?token=svc_wrong')).status).toBe(401)
})
