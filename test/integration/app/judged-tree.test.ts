import { expect, test } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { quietly } from '../../helpers/quiet-command.ts'
import { refused } from '../../helpers/refusal.ts'
import { withHooks } from '../../helpers/small-workflow.ts'

const auto: StateHook = { plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'merging' } }
const byItself = withHooks({ review: { after_enter: [auto] } })
const pass = quietly('verdict', { verdict: 'pass' })
const inMain = (job: Job, path: string) => job.repository.git(['show', `main:${path}`])

/** A task with uncommitted work, judged by an agent that acts before it passes it. */
async function judgedBy(job: Job, before: string) {
  const task = await job.task()
  const reviewer = await job.agent(`${before}; ${pass}`, 'Reviewer')
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  return task.id
}

test.concurrent('merges what an agent changed after the checks only on a person’s request', async () => {
  await using job = await startJob({ workflow: byItself })
  const { client } = job.running
  const task_id = await judgedBy(job, 'echo slipped >> work.txt; echo in > new.txt')
  const held = await job.running.taskWhere(task_id, (one) => one.error_annotation !== null)
  expect([held.status, held.review_passed_at]).toEqual(['review', null])
  await expect(inMain(job, 'work.txt')).rejects.toThrow('work.txt')
  const { items } = await client.call('tasks.executions', { task_id })
  expect(items[0]).toMatchObject({ role: 'reviewer', exit_code: 9 })
  const diff = await client.call('tasks.diff', { task_id, scope: 'branch' })
  const refusal = await refused(client.call('tasks.verdict', { task_id, verdict: 'pass' }))
  const changed = { tree: diff.tree, files: ['new.txt', 'work.txt'] }
  expect([refusal.code, refusal.details]).toEqual(['review_not_ready', changed])
  await client.call('tasks.verdict', { task_id, verdict: 'pass', tree: diff.tree ?? '' })
  await job.running.taskWhere(task_id, (one) => one.status === 'done')
  expect([await inMain(job, 'work.txt'), await inMain(job, 'new.txt')]).toEqual(['worked\nslipped', 'in'])
})

test.concurrent('continues automatically with uncommitted work that the checks saw', async () => {
  await using job = await startJob({ workflow: byItself })
  const task_id = await judgedBy(job, 'git status --short > /dev/null')
  await job.running.taskWhere(task_id, (one) => one.status === 'done')
  expect(await inMain(job, 'work.txt')).toBe('worked')
})

test.concurrent('counts what CI steps leave in the worktree as checked', async () => {
  await using job = await startJob({ workflow: byItself })
  const task = await job.task({ review_config: { ci_steps: ['echo locked > lock.txt'] } })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(await inMain(job, 'lock.txt')).toBe('locked')
})

test.concurrent('merges work that was committed as it was judged', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  const { version } = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.repository.git(['add', '-A', ':!.svc.lock'], { cwd: path })
  await job.repository.git(['commit', '-qm', 'Taken up'], { cwd: path })
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(await inMain(job, 'work.txt')).toBe('worked')
})
