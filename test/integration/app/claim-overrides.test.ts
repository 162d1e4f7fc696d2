import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ExecutionOverrides } from '../../../src-shared/contract/executions.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'

/** Claims a new task with overrides; returns what the agent wrote to `told.txt`, and its execution. */
async function claimWith(job: Job, agent: Agent, overrides: ExecutionOverrides) {
  const { client } = job.running
  const task = await job.task({ description: 'The description' })
  const { execution, workspace } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id, overrides })
  const settled = await job.running.taskWhere(
    task.id,
    (one) => (one.review_passed_at !== null && !one.entry_barrier) || one.error_annotation !== null,
  )
  const told = () => readFile(join(workspace?.path ?? '', 'told.txt'), 'utf8')
  return {
    task: settled,
    told,
    execution: await client.call('executions.get', { execution_id: present(execution).id }),
  }
}

test.concurrent('replaces the task by the override prompt', async () => {
  await using job = await startJob()
  const agent = await job.agent('cat > told.txt; echo done')
  const { told, execution } = await claimWith(job, agent, { prompt: 'Only this' })
  expect([execution.prompt, (await told()).trim()]).toEqual(['Only this', 'Only this'])
  expect(await (await claimWith(job, agent, {})).told()).toContain('The description')
})

test.concurrent('runs the override command for this claim only', async () => {
  await using job = await startJob()
  const agent = await job.agent('echo own > told.txt; echo done')
  const { told } = await claimWith(job, agent, { command: 'echo other > told.txt; echo done' })
  expect(await told()).toBe('other\n')
  expect(await (await claimWith(job, agent, {})).told()).toBe('own\n')
})

test.concurrent('replaces the agent’s arguments by the override', async () => {
  await using job = await startJob()
  const { client } = job.running
  const config = { command: 'f() { printf "%s|" "$@" > told.txt; echo done; }; f', args: ['own'] }
  const agent = await client.call('agents.create', { name: 'With words', executor: 'command', config })
  expect(await (await claimWith(job, agent, { args: ['a b', 'c'] })).told()).toBe('a b|c|')
  expect(await (await claimWith(job, agent, {})).told()).toBe('own|')
})

test.concurrent('merges the override env over the agent’s, but never over the service’s own', async () => {
  await using job = await startJob()
  const { client } = job.running
  const command = 'echo "$KEPT $CHANGED $ADDED $SVC_TASK_ID" > told.txt; echo done'
  const config = { command, env: { KEPT: 'kept', CHANGED: 'before' } }
  const agent = await client.call('agents.create', { name: 'With env', executor: 'command', config })
  const env = { CHANGED: 'after', ADDED: 'added', SVC_TASK_ID: 'forged' }
  const { told, task } = await claimWith(job, agent, { env })
  expect(await told()).toBe(`kept after added ${task.id}\n`)
})

test.concurrent('ends the agent at the override timeout, whatever the project allows', async () => {
  await using job = await startJob()
  await job.settings({ execution_timeout_seconds: 3_600 })
  const agent = await job.agent('echo begun > told.txt; exec sleep 600')
  const { task, execution, told } = await claimWith(job, agent, { timeout_seconds: 1 })
  expect(execution.status).toBe('failed')
  expect(execution.error).toMatch(/time limit of 1 s/)
  expect(task).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_failed' } })
  expect(await told()).toBe('begun\n')
})

test.concurrent('ends the agent at the project’s timeout without an override', async () => {
  await using job = await startJob()
  await job.settings({ execution_timeout_seconds: 1 })
  const { execution } = await claimWith(job, await job.agent('exec sleep 600'), {})
  expect([execution.status, execution.error]).toEqual(['failed', expect.stringMatching(/time limit of 1 s/)])
})

test.concurrent('starts the agent with the override model', async () => {
  await using job = await startJob()
  const binary = join(job.running.dataDir, 'claude')
  await writeFile(binary, '#!/bin/sh\nprintf "%s " "$@" > told.txt\nexit 1\n')
  await chmod(binary, 0o755)
  const config = { command: binary, model: 'usual' }
  const agent = await job.running.client.call('agents.create', { name: 'Claude', executor: 'claude-code', config })
  expect(await (await claimWith(job, agent, { model: 'special' })).told()).toContain('--model special ')
  expect(await (await claimWith(job, agent, {})).told()).toContain('--model usual ')
})

test.concurrent('accepts overrides for a follow-up claim in the same worktree', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('cat >> told.txt; echo; echo no luck; exit 1')
  const { task } = await claimWith(job, agent, { prompt: 'First. ' })
  const again = await client.call('tasks.claim', {
    task_id: task.id,
    agent_id: agent.id,
    overrides: { prompt: 'Second.', command: 'cat >> told.txt; echo done' },
  })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect((await readFile(join(again.workspace?.path ?? '', 'told.txt'), 'utf8')).trim()).toBe('First. Second.')
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent', 'in_progress > review by system'])
})
