import { access, lstat, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

/** A task whose agent has committed work and then failed. */
async function failedTask(job: Job) {
  const agent = await job.agent('ls > seen.txt; git add -A; git commit -qm "Work so far"; exit 1')
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  const failed = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const { branch } = await job.running.client.call('tasks.workspace', { task_id: task.id })
  return { agent, task: failed, path, branch }
}

async function loseEverything(job: Job, path: string, branch: string): Promise<void> {
  await rm(path, { recursive: true })
  await job.repository.git(['worktree', 'prune'])
  await job.repository.git(['branch', '-D', branch])
}

test.concurrent('worktree rule 7: creates a deleted worktree again from its branch', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { agent, task, path } = await failedTask(job)
  await rm(path, { recursive: true })
  const shown = await client.call('tasks.workspace', { task_id: task.id })
  expect(shown).toMatchObject({ dirty: false, lock: null })
  await client.call('agents.update', { agent_id: agent.id, config: { command: 'cat seen.txt; echo more > more.txt' } })
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).toContain('README.md')
})

describe('a repository that was restored from a backup', () => {
  test.concurrent.each(['with the branch', 'without the branch'])('offers what works, %s', async (how) => {
    await using job = await startJob()
    const { client } = job.running
    const task = await job.task()
    await job.claim(task, await job.agent('echo 1 > work.txt; git add work.txt; git commit -qm Work'))
    const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    const { branch } = await client.call('tasks.workspace', { task_id: task.id })
    await rm(join(job.repository.path, '.git/worktrees'), { recursive: true })
    if (how === 'without the branch') await job.repository.git(['branch', '-D', branch])
    const diff = await refused(client.call('tasks.diff', { task_id: task.id, scope: 'branch' }))
    expect(diff).toMatchObject({
      code: 'workspace_failed',
      message: expect.stringContaining('reset the workspace') as unknown,
    })
    const move = { task_id: task.id, status: 'merging', version: reviewed.version }
    expect(await refused(client.call('tasks.transition', move))).toMatchObject({ status: 409 })
    const reset = await client.call('tasks.reset_workspace', { task_id: task.id })
    expect(reset).toMatchObject({ task: { status: 'review' }, workspace: { status: 'ready' } })
    const { files, tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    if (how === 'without the branch') {
      expect(files).toEqual([])
      return
    }
    expect(files.map((file) => file.path)).toEqual(['work.txt'])
    const merged = await client.call('tasks.transition', { ...move, version: reset.task.version, tree: tree ?? '' })
    expect(merged.task.status).toBe('done')
    expect(await job.repository.git(['show', 'main:work.txt'])).toBe('1')
  })
})

test.concurrent('worktree rule 7: starts over only after a reset if worktree and branch are gone', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { agent, task, path, branch } = await failedTask(job)
  expect(await refusalOf(client.call('tasks.reset_workspace', { task_id: task.id }))).toBe('reset_not_required')
  await loseEverything(job, path, branch)
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  const blocked = await job.running.taskWhere(task.id, (one) => one.status === 'blocked')
  expect(blocked).toMatchObject({
    active_execution_id: null,
    error_annotation: { type: 'workspace_reset_required', recovery_actions: [] },
  })
  expect(await refusalOf(client.call('tasks.workspace', { task_id: task.id }))).toBe('not_found')
  expect(await refusalOf(job.claim(task, agent))).toBe('not_claimable')
  const told = await job.running.eventually(
    async () => (await client.call('notifications.list', {})).items,
    (items) => items.some(({ event_type }) => event_type === 'task.blocked'),
  )
  expect(told[0]).toMatchObject({ event_type: 'task.blocked', task_id: task.id })

  const reset = await client.call('tasks.reset_workspace', { task_id: task.id })
  expect(reset).toMatchObject({ task: { status: 'blocked', error_annotation: null }, workspace: { status: 'ready' } })
  await expect(access(join(path, 'seen.txt'))).rejects.toThrow('ENOENT')
  await client.call('agents.update', { agent_id: agent.id, config: { command: 'echo anew > new.txt; echo done' } })
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await job.history(task.id)).toEqual([
    'backlog > in_progress by agent',
    'in_progress > blocked by system',
    'blocked > todo by agent',
    'todo > in_progress by agent',
    'in_progress > review by system',
  ])
})

test.concurrent('blocks the task at a follow-up claim on a lost workspace', async () => {
  await using job = await startJob()
  const { agent, task, path, branch } = await failedTask(job)
  await loseEverything(job, path, branch)
  await job.claim(task, agent)
  const blocked = await job.running.taskWhere(task.id, (one) => one.status === 'blocked')
  expect(blocked.error_annotation?.type).toBe('workspace_reset_required')
})

test.concurrent('blocks the task when a set-up command fails, with its output, and starts over on retry', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({
    setup_commands: ['echo no such registry, password=hunter2 >&2; exit 9'],
    redaction_patterns: ['hunter2'],
  })
  const agent = await job.agent('echo x > work.txt; echo done')
  const task = await job.task()
  const refusal = await refused(job.claim(task, agent))
  expect([refusal.code, refusal.status, refusal.details]).toEqual(['workspace_failed', 409, { status: 'blocked' }])
  expect(refusal.message).toContain('no such registry')
  expect(refusal.message).not.toContain('hunter2')
  const blocked = await client.call('tasks.get', { task_id: task.id })
  expect(blocked.status).toBe('blocked')
  expect(blocked.error_annotation).toMatchObject({ type: 'workspace_error', recovery_actions: ['retry_execution'] })
  expect(blocked.error_annotation?.message).toContain('no such registry')
  expect((await job.executions(task.id)).map((one) => one.status)).toEqual(['cancelled'])
  const { error } = await client.call('tasks.workspace', { task_id: task.id })
  expect(error).toContain('exit code 9')
  await job.settings({ setup_commands: ['echo fine'] })
  // A refused retry leaves the way out open.
  await client.call('agents.update', { agent_id: agent.id, paused: true })
  const retry = () => client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  expect(await refusalOf(retry())).toBe('agent_paused')
  await client.call('agents.update', { agent_id: agent.id, paused: false })
  await retry()
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('takes branch and base from the settings until a worktree exists', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [repo] = job.project.repos
  const at = { project_id: job.project.id, repo_id: repo?.id as never }
  await job.settings({ branch_prefix: 'taken/' })
  // The project's base was renamed, and git can't create a branch below one named like the prefix.
  await job.repository.git(['branch', '-m', 'main', 'trunk'])
  await job.repository.git(['branch', 'taken'])
  const agent = await job.agent('echo x > work.txt; echo done')
  const task = await job.task()
  expect(await refusalOf(job.claim(task, agent))).toBe('workspace_failed')
  await client.call('repos.update', { ...at, default_branch: 'trunk' })
  const again = await refused(client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' }))
  expect([again.code, again.message]).toEqual(['workspace_failed', expect.stringContaining('beside the branch taken')])
  await job.settings({ branch_prefix: 'free/' })
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const workspace = await client.call('tasks.workspace', { task_id: task.id })
  expect([workspace.branch.split('/')[0], workspace.base_branch]).toEqual(['free', 'trunk'])
  // An existing branch keeps its name.
  await job.settings({ branch_prefix: 'later/' })
  expect((await client.call('tasks.workspace', { task_id: task.id })).branch).toBe(workspace.branch)
})

test.concurrent('counts ignored files in the size of a worktree until it is removed', async () => {
  await using job = await startJob({ files: { '.gitignore': '*.bin\n' } })
  const { client } = job.running
  const task = await job.task()
  expect(await refusalOf(client.call('tasks.workspace_size', { task_id: task.id }))).toBe('not_found')
  const { path } = await job.claim(task, await job.agent('mkdir deep; head -c 5000 /dev/zero > deep/large.bin; exit 1'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  const link = (await lstat(join(path, '.git'))).size
  expect(await client.call('tasks.workspace_size', { task_id: task.id })).toEqual({
    size_bytes: 5_000 + '*.bin\n'.length + link,
    size_complete: true,
  })
  await rm(path, { recursive: true })
  expect(await refusalOf(client.call('tasks.workspace_size', { task_id: task.id }))).toBe('not_found')
})

test.concurrent('shows uncommitted work and the branch’s commits in the diff', async () => {
  await using job = await startJob({ files: { 'a.txt': 'one\n' } })
  const { client } = job.running
  const before = await job.task()
  expect(await client.call('tasks.diff', { task_id: before.id })).toMatchObject({ base: null, files: [], patch: '' })
  const agent = await job.agent('echo two >> a.txt; git commit -qam Two; echo three > b.txt; echo done')
  const task = await job.task()
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const uncommitted = await client.call('tasks.diff', { task_id: task.id })
  expect(uncommitted.files.map((file) => [file.path, file.status])).toEqual([['b.txt', 'added']])
  const branch = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(branch.files.map((file) => [file.path, file.status])).toEqual([
    ['a.txt', 'modified'],
    ['b.txt', 'added'],
  ])
})
