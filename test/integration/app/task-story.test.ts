import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'

const secret = 'sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz'

test('logs each step of a task once, with IDs and outcomes and no one’s text', async () => {
  const { log, lines } = createLogLines()
  await using job = await startJob({ log })
  const { client } = job.running
  const agent = await job.agent(`test ! -f tried || echo ok > good.txt; touch tried; echo 'I use ${secret}'`)
  const task = await job.task({ title: 'A story', review_config: { ci_steps: ['true', 'test -f good.txt'] } })
  await job.claim(task, agent)
  const passed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: passed.version })
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    ({ status }) => status === 'cleaned',
  )
  const [second, first] = await job.executions(task.id)
  const [{ id: newest = '' } = {}, { id: oldest = '' } = {}] = (
    await client.call('tasks.reviews', { task_id: task.id })
  ).items
  const of = { project_id: job.project.id, task_id: task.id }
  const work = { role: 'coder', agent_id: agent.id, executor: 'command' }
  const ended = { role: 'coder', status: 'succeeded', exit_code: 0 }
  // None of it is a warning.
  const told = lines.flatMap(({ module, level, time: _time, ...line }) =>
    module === 'task-events' ? [level === 30 ? line : { level, ...line }] : [],
  )
  expect(told).toEqual([
    { msg: 'a task was made', ...of, status: 'backlog' },
    { msg: 'a task moved', ...of, from: 'backlog', to: 'in_progress', by: `agent:${agent.id}` },
    { msg: 'an execution began', ...of, execution_id: first?.id, ...work },
    { msg: 'an execution ended', ...of, execution_id: first?.id, ...ended },
    { msg: 'a task moved', ...of, from: 'in_progress', to: 'review', by: 'system' },
    { msg: 'a review ended', ...of, review_id: oldest, attempt: 1, status: 'failed', step: 2, exit_code: 1 },
    { msg: 'a task moved', ...of, from: 'review', to: 'in_progress', by: 'system' },
    { msg: 'an execution began', ...of, execution_id: second?.id, ...work },
    { msg: 'an execution ended', ...of, execution_id: second?.id, ...ended },
    { msg: 'a task moved', ...of, from: 'in_progress', to: 'review', by: 'system' },
    { msg: 'a review ended', ...of, review_id: newest, attempt: 2, status: 'passed' },
    { msg: 'a task moved', ...of, from: 'review', to: 'merging', by: 'user:owner' },
    { msg: 'a task moved', ...of, from: 'merging', to: 'done', by: 'user:owner' },
    {
      msg: 'a worktree was removed',
      ...of,
      workspace_id: expect.any(String) as string,
      branch: expect.any(String) as string,
    },
  ])
  expect(JSON.stringify(lines)).not.toContain(secret)
  expect(JSON.stringify(lines)).not.toContain('A story')

  const failing = await job.task({ title: 'Fails' })
  await job.claim(failing, await job.agent('exit 3', 'Failing'))
  await job.running.taskWhere(failing.id, ({ error_annotation }) => error_annotation !== null)
  expect(lines.at(-1)).toMatchObject({ level: 40, msg: 'an execution ended', status: 'failed', exit_code: 3 })

  // The files of its runs are kept as long as the task.
  const logsOf = () => readdir(join(job.running.dataDir, 'logs'))
  expect((await logsOf()).sort()).toEqual([task.id, failing.id].sort())
  await client.call('tasks.delete', { task_id: task.id })
  expect(await logsOf()).toEqual([failing.id])
  await client.call('projects.delete', { project_id: failing.project_id })
  await expect.poll(logsOf).toEqual([])
})
