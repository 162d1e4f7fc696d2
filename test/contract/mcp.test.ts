import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../helpers/job.ts'
import { register } from '../helpers/membership.ts'

type Mode = 'legacy' | 'auto'

/** The official client; it holds every answer against the tool's own output schema. */
async function connect(job: Job, mode: Mode, token = job.running.token) {
  const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${job.running.url}/api/v1/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  await client.listTools()
  const call = async <T>(name: string, args: Record<string, unknown>): Promise<T> => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
    if (isError === true) throw new Error(JSON.stringify(content))
    return structuredContent as T
  }
  return { client, call, [Symbol.asyncDispose]: () => client.close() }
}

describe.each(['legacy', 'auto'] as const)('a client in mode %s', (mode) => {
  test('takes a task through all of its tools, and each answer fits its schema', async () => {
    await using job = await startJob()
    await using mcp = await connect(job, mode)
    const agent = await job.running.client.call('agents.create', { name: 'Remote', executor: 'external' })
    expect(await mcp.call('svc_list_projects', {})).toMatchObject({ items: [{ id: job.project.id }] })
    const default_review_config = { ci_steps: ['test -f new.txt'], review_prompt: 'Look well.' }
    await job.settings({ default_review_config })
    const created = await mcp.call<Task>('svc_create_task', { title: 'Over MCP', description: 'x'.repeat(600) })
    const { id: task_id, review_config, repo_id } = created
    expect([review_config, repo_id]).toEqual([default_review_config, job.project.repos[0]?.id])
    await mcp.call('svc_update_task', { task_id, labels: ['mcp'] })
    expect(await mcp.call('svc_list_tasks', { label: 'mcp' })).toMatchObject({
      items: [{ id: task_id, description: `${'x'.repeat(500)}…` }],
    })
    await mcp.call('svc_add_comment', { task_id, body: 'Begin' })
    const claimed = await mcp.call<{ execution: { id: string }; workspace: { path: string } }>('svc_assign_agent', {
      task_id,
      agent_id: 'remote',
    })
    const execution_id = claimed.execution.id
    await job.running.eventually(
      () => job.executions(task_id),
      ([first]) => first?.status === 'running',
    )
    await mcp.call('svc_heartbeat', { execution_id })
    await writeFile(join(claimed.workspace.path, 'new.txt'), 'new\n')
    expect(await mcp.call('svc_get_task_diff', { task_id })).toMatchObject({ files: [{ path: 'new.txt' }] })
    await mcp.call('svc_submit_for_review', { task_id, summary: 'Done' })
    await job.running.taskWhere(task_id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    await mcp.call('svc_submit_verdict', { task_id, verdict: 'pass' })
    expect(await mcp.call('svc_get_task', { task_id })).toMatchObject({ status: 'review' })
    await expect(mcp.call('svc_finish_execution', { execution_id, status: 'failed' })).rejects.toThrow(
      'execution_not_running',
    )
    expect((await job.transitions(task_id)).map(({ triggered_by }) => triggered_by)).toContain(`agent:${agent.id}`)
  })

  test('reads tasks and their diffs, a page after the other, and nothing of others', async () => {
    await using job = await startJob()
    await using mcp = await connect(job, mode)
    const { client } = job.running
    const task = await job.task({ title: 'Read me' })
    const { workspace } = await client.call('tasks.claim', { task_id: task.id })
    await writeFile(join(workspace?.path ?? '', 'new.txt'), 'new\n')
    await client.call('projects.create', { name: 'Empty', repo_path: job.repository.path })
    const { resources } = await mcp.client.listResources()
    expect(resources).toContainEqual(expect.objectContaining({ uri: `copse://tasks/${task.id}`, title: 'Read me' }))
    expect((await mcp.client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'copse://tasks/{task_id}',
      'copse://tasks/{task_id}/diff',
    ])
    const textOf = async (uri: string) => JSON.stringify((await mcp.client.readResource({ uri })).contents)
    expect(await textOf(`copse://tasks/${task.id}`)).toContain('Read me')
    expect(await textOf(`copse://tasks/${task.id}/diff`)).toContain('+new')
    await expect(textOf('copse://tasks/none')).rejects.toThrow()

    const stranger = await register(job.running, 'Stranger')
    const { token } = await stranger.client.call('auth.create_token', { name: 'mcp' })
    await using other = await connect(job, mode, token)
    expect((await other.client.listResources()).resources).toEqual([])
    await expect(other.client.readResource({ uri: `copse://tasks/${task.id}` })).rejects.toThrow('not a member')
  })
})

test('a client of the newer protocol is told when the task that it reads changes, and when there are others', async () => {
  await using job = await startJob()
  await using mcp = await connect(job, 'auto')
  const task = await job.task()
  const uri = `copse://tasks/${task.id}`
  const updated = new Promise<string>((resolve) => {
    mcp.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      resolve(params.uri)
    })
  })
  const listed = new Promise<void>((resolve) => {
    mcp.client.setNotificationHandler('notifications/resources/list_changed', () => {
      resolve()
    })
  })
  const subscription = await mcp.client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true })
  await job.task({ title: 'Another' })
  await job.running.client.call('tasks.update', { task_id: task.id, title: 'Changed' })
  expect(await updated).toBe(uri)
  await listed
  await subscription.close()
})
