import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../helpers/job.ts'
import { register } from '../helpers/membership.ts'
import { projectRoot } from '../helpers/project-root.ts'

type Mode = 'legacy' | 'auto'

/** The official client; it checks every answer against the tool's output schema. */
async function connect(
  job: Job,
  mode: Mode,
  token = job.running.token,
  answer?: (message: string, options: readonly string[]) => string,
) {
  const capabilities = answer ? { elicitation: { form: {} } } : {}
  const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities })
  if (answer) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      const schema = JSON.parse(JSON.stringify(params)) as {
        requestedSchema?: { properties?: { option?: { enum?: string[] } } }
      }
      const options = schema.requestedSchema?.properties?.option?.enum ?? []
      return { action: 'accept', content: { option: answer(params.message, options) } }
    })
  }
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
  test('takes a task through all tools, with answers that fit their schemas', async () => {
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

  test('reads tasks and their diffs in one page, and nothing of others', async () => {
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

test('notifies a client of the newer protocol of changed and new tasks', async () => {
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

test('finds tasks, projects, agents and runs by their names', async () => {
  await using job = await startJob()
  await using mcp = await connect(job, 'auto')
  const { client } = job.running
  await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const remote = await client.call('agents.create', { name: 'Remote', executor: 'external' })
  const first = await mcp.call<Task>('svc_create_task', { title: 'First', project_id: 'job' })
  const second = await mcp.call<Task>('svc_create_task', { title: 'Second', project_id: job.project.key })
  expect(await mcp.call('svc_get_task', { task_id: first.ref })).toMatchObject({ id: first.id })
  expect(await mcp.call('svc_get_task', { task_id: first.id.slice(-8) })).toMatchObject({ id: first.id })
  await expect(mcp.call('svc_get_task', { task_id: 'JOB-99' })).rejects.toThrow('No task JOB-99.')
  expect(await mcp.call('svc_list_agents', {})).toMatchObject({ items: [{ id: remote.id, name: 'Remote' }] })
  await mcp.call('svc_add_dependency', { task_id: second.ref, depends_on_id: first.ref })
  expect(await mcp.call('svc_list_dependencies', { task_id: second.ref })).toMatchObject({ items: [{ id: first.id }] })
  expect(await mcp.call('svc_remove_dependency', { task_id: second.ref, depends_on_id: first.ref })).toEqual({
    items: [],
  })
  expect(await mcp.call('svc_move_task', { task_id: first.ref, status: 'todo', reason: 'Ready' })).toMatchObject({
    task: { status: 'todo' },
  })
  await mcp.call('svc_assign_agent', { task_id: first.ref, agent_id: remote.id.slice(-8) })
  const [run] = await job.executions(first.id)
  await job.running.eventually(
    () => job.executions(first.id),
    ([one]) => one?.status === 'running',
  )
  expect(await mcp.call('svc_heartbeat', { execution_id: run?.id.slice(-8) })).toMatchObject({ action: 'continue' })
  expect(await mcp.call('svc_stop_execution', { task_id: first.ref })).toMatchObject({
    execution: { status: 'stopped' },
  })
  await expect(mcp.call('svc_stop_execution', { task_id: first.ref })).rejects.toThrow('No run of this task')
})

test('waits for the end of a run', async () => {
  await using job = await startJob()
  await using mcp = await connect(job, 'auto')
  const task = await job.task()
  await job.claim(task, await job.agent('mkfifo go; read line < go; echo All done'))
  expect(await mcp.call('svc_await_run', { task_id: task.ref, wait_seconds: 0 })).toMatchObject({ done: false })
  const waited = mcp.call('svc_await_run', { task_id: task.ref, wait_seconds: 30 })
  const { path } = await job.running.client.call('tasks.workspace', { task_id: task.id })
  await writeFile(join(path, 'go'), 'go\n')
  expect(await waited).toMatchObject({ done: true, run: { status: 'succeeded', summary: 'All done' }, question: null })
})

test('shows an agent’s question to the person before the caller, and passes the answer on', async () => {
  await using job = await startJob()
  const command = `"${process.execPath}" "${join(projectRoot, 'test/fakes/asking-acp-agent.ts')}"`
  const config = { command, permissions: 'ask' } as const
  const asking = await job.running.client.call('agents.create', { name: 'Asker', executor: 'acp', config })
  const calls = [{ title: 'Write a.txt', kind: 'edit', rawInput: { path: 'a.txt', content: 'x' } }]
  const task = await job.task({ description: `Do it. <asks>${JSON.stringify(calls)}</asks>` })
  await job.claim(task, asking)
  await using plain = await connect(job, 'auto')
  const told = await plain.call<{ question: { text: string; options: string[] } }>('svc_await_run', {
    task_id: task.ref,
  })
  expect(told).toMatchObject({ done: false, run: { status: 'running' } })
  expect(told.question.options.length).toBeGreaterThan(0)
  const forms: unknown[] = []
  await using mcp = await connect(job, 'auto', job.running.token, (message, options) => {
    forms.push(message)
    return options[0] ?? ''
  })
  const ended = await mcp.call('svc_await_run', { task_id: task.ref, wait_seconds: 30 })
  expect(forms).toEqual([told.question.text])
  expect(ended).toMatchObject({ done: true })
})
