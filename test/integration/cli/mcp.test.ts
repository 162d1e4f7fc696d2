import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Project } from '../../../src-shared/contract/projects.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { cliFile, startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
let project: Project
beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  project = await world.client.call('projects.create', { name: 'Shop', repo_path: repository.path })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

describe.each(['legacy', 'auto'] as const)('the official client in mode %s', (mode) => {
  async function connect() {
    const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } })
    const env = { ...(process.env as Record<string, string>), ...world.env }
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [cliFile, 'mcp'], env }))
    return { client, [Symbol.asyncDispose]: () => client.close() }
  }

  test('lists the tools, creates a task with any title, and reads it back', async () => {
    await using mcp = await connect()
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25')
    const { tools } = await mcp.client.listTools()
    expect(tools.map(({ name }) => name)).toContain('svc_create_task')
    const made = await mcp.client.callTool({ name: 'svc_create_task', arguments: { title: `Übung ${mode}` } })
    expect(made.structuredContent).toMatchObject({ title: `Übung ${mode}`, project_id: project.id })
    const all = await Promise.all(
      Array.from({ length: 5 }, () => mcp.client.callTool({ name: 'svc_list_tasks', arguments: {} })),
    )
    for (const { structuredContent } of all) expect(JSON.stringify(structuredContent)).toContain(`Übung ${mode}`)
  })

  test('reports the API’s refusals and unknown tools as errors of the tool', async () => {
    await using mcp = await connect()
    const missing = { name: 'svc_get_task', arguments: { task_id: project.id } }
    expect(await mcp.client.callTool(missing)).toMatchObject({ isError: true })
    expect(await mcp.client.callTool({ name: 'Überall', arguments: {} })).toMatchObject({ isError: true })
  })
})

test('answers an invalid token with what to do, and keeps the connection', async () => {
  const bridge = world.start(['mcp'], { env: { SVC_API_TOKEN: 'svc_wrong' } })
  bridge.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
  const lines = createInterface({ input: bridge.stdout })
  const [first] = (await once(lines, 'line')) as [string]
  expect(JSON.parse(first)).toMatchObject({ id: 1, error: { message: expect.stringContaining('svc login') as string } })
  bridge.stdin.write('no message\n')
  const [second] = (await once(lines, 'line')) as [string]
  expect(JSON.parse(second)).toMatchObject({ id: null, error: { code: -32_700 } })
  bridge.stdin.end()
  expect(await once(bridge, 'exit')).toEqual([0, null])
})

test('says so without a sign-in, and ends with 1', async () => {
  const ended = await world.svc(['mcp'], { env: { SVC_API_TOKEN: '' } })
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('svc login') as string })
})
