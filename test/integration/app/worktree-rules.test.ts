import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf } from '../../helpers/refusal.ts'

// Rules 2 (subtasks), 3 and 4 (wait or reject) are proven in subtasks.test.ts, 7 in workspace.test.ts, 8 in
// orphans.test.ts.

test.concurrent('worktree rule 1: creates it at the first claim, sets it up once, and reuses it', async () => {
  await using job = await startJob({ files: { '.gitignore': '.env\n', 'README.md': '# Example\n' } })
  const { client } = job.running
  await job.repository.write({ '.env': 'SECRET=1\n' })
  await job.settings({ setup_commands: ['cat .env >> set-up.txt', 'pwd >> set-up.txt'], copy_files: ['.env'] })
  const first = await job.agent('echo one >> work.txt; exit 1', 'First')
  const task = await job.task({ title: 'Reuse me' })
  const claimed = await job.claim(task, first)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  const made = await client.call('tasks.workspace', { task_id: task.id })
  const same = async () => {
    const { id, path, branch, base_commit } = await client.call('tasks.workspace', { task_id: task.id })
    expect({ id, path, branch, base_commit }).toEqual({
      id: made.id,
      path: claimed.path,
      branch: made.branch,
      base_commit: made.base_commit,
    })
  }
  expect(made).toMatchObject({
    status: 'ready',
    path: join(job.running.dataDir, 'workspaces', job.project.id, task.id),
    branch: `svc/reuse-me-${task.id.slice(-8)}`,
    base_branch: 'main',
  })

  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await job.running.eventually(
    () => job.executions(task.id),
    (all) => all.length === 2 && all.every((one) => one.status === 'failed'),
  )
  await same()

  const second = await job.agent('echo two >> work.txt; echo done', 'Second')
  await client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: second.id })
  await job.claim(task, second)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await same()

  await client.call('tasks.feedback', { task_id: task.id, message: 'Once more' })
  await job.running.eventually(
    () => readFile(join(claimed.path, 'work.txt'), 'utf8'),
    (text) => text === 'one\none\ntwo\ntwo\n',
  )
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await same()
  expect(await readFile(join(claimed.path, 'set-up.txt'), 'utf8')).toBe(`SECRET=1\n${await realpath(made.path)}\n`)
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(made.base_commit)
})

test.concurrent('worktree rule 2: lets a reviewer work in the reviewed task’s workspace', async () => {
  await using job = await startJob()
  const { client } = job.running
  const coder = await job.agent('echo work > work.txt; echo done', 'Coder')
  const reviewer = await job.agent('cat work.txt > seen.txt; pwd >> seen.txt; exit 1', 'Reviewer')
  const task = await job.task()
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  const { path } = await job.claim(task, coder)
  await job.running.eventually(
    () => job.executions(task.id),
    (all) => all.some((one) => one.role === 'reviewer' && one.status === 'failed'),
  )
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).toBe(`work\n${await realpath(path)}\n`)
  expect(await readdir(join(job.running.dataDir, 'workspaces', job.project.id))).toEqual([task.id])
})

test.concurrent.each(['completes', 'fails', 'is cancelled', 'is stopped'] as const)(
  'worktree rule 4: locks before the executor starts and unlocks when the execution %s',
  async (end) => {
    await using beacon = await createProcessBeacon()
    await using job = await startJob()
    const { client } = job.running
    const last = end === 'fails' ? 'exit 1' : 'echo done'
    const script = `cat .svc.lock > seen.lock; git status --porcelain > seen.txt; ${wait}; ${last}`
    const task = await job.task()
    const { path, execution } = await job.claim(task, await job.agent(beacon.hold('agent', script)))
    await beacon.alive('agent')
    const running = await job.running.eventually(
      () => client.call('tasks.workspace', { task_id: task.id }),
      (one) => (one.lock?.pid ?? null) !== null,
    )
    expect(running.lock?.execution_id).toBe(execution.id)
    const file: unknown = JSON.parse(await readFile(join(path, '.svc.lock'), 'utf8'))
    expect(file).toEqual({
      execution_id: execution.id,
      pid: running.lock?.pid,
      holder: { pid: running.lock?.pid, started: expect.stringMatching(/./) },
    })
    if (end === 'is cancelled') await client.call('tasks.cancel', { task_id: task.id })
    else if (end === 'is stopped') await client.call('executions.stop', { execution_id: execution.id })
    else await beacon.release('agent')
    // A lock of a dead process counts for none; the end of the execution says that its file is gone too.
    await job.running.eventually(
      () => client.call('executions.get', { execution_id: execution.id }),
      (one) => one.finished_at !== null,
    )
    await beacon.gone('agent')
    expect((await client.call('tasks.workspace', { task_id: task.id })).lock).toBeNull()
    expect(existsSync(join(path, '.svc.lock'))).toBe(false)
    if (end !== 'completes') return
    expect(JSON.parse(await readFile(join(path, 'seen.lock'), 'utf8'))).toMatchObject({ execution_id: execution.id })
    // Neither the lock nor any other file of the service disturbs the agent.
    expect(await readFile(join(path, 'seen.txt'), 'utf8')).toBe('?? seen.lock\n?? seen.txt\n')
    const diff = await client.call('tasks.diff', { task_id: task.id })
    expect(diff.files.map((one) => one.path)).toEqual(['seen.lock', 'seen.txt'])
  },
)

test.concurrent.each([
  ['has ended', (pid: number) => ({ pid, started: 'long ago' })],
  ['has a pid that another process has by now', () => ({ pid: process.pid, started: 'before that one' })],
])('worktree rule 5: releases at the start the lock of a process that %s, and continues', async (_, holder) => {
  const { log, line } = createLogLines()
  await using job = await startJob({ log })
  const agent = await job.agent('exit 1')
  const task = await job.task()
  const { path, execution } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const child = spawn('true', { stdio: 'ignore' })
  await once(child, 'exit')
  const left = { execution_id: execution.id.replace(/.$/, '0'), pid: 1, holder: holder(child.pid ?? 0) }
  await writeFile(join(path, '.svc.lock'), JSON.stringify(left))
  job.running = await job.running.restart()
  expect((await line('locks without a process were released'))['paths']).toEqual([path])
  expect(existsSync(join(path, '.svc.lock'))).toBe(false)
  await job.running.client.call('agents.update', { agent_id: agent.id, config: { command: 'echo fine; echo x > x' } })
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('worktree rule 6: rejects what leads out of the worktree, and says so on the task', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.repository.write({ 'secret.txt': 's\n' }, job.repository.beside)
  await symlink(job.repository.beside, join(job.repository.path, 'out'))
  await job.settings({ copy_files: ['out/secret.txt'] })
  const task = await job.task()
  expect(await refusalOf(job.claim(task, await job.agent('echo never')))).toBe('workspace_failed')
  const blocked = await job.running.taskWhere(task.id, (one) => one.status === 'blocked')
  const { path } = await client.call('tasks.workspace', { task_id: task.id })
  expect(blocked.error_annotation).toMatchObject({ type: 'workspace_error', recovery_actions: ['retry_execution'] })
  expect(blocked.error_annotation?.message).toContain('points outside')
  expect(await readdir(path)).toEqual(['.git', 'README.md'])

  // An agent that links its worktree to another task's does not get that committed or merged.
  await job.settings({ copy_files: [] })
  const victim = await job.task({ title: 'Victim' })
  const { path: theirs } = await job.claim(victim, await job.agent('echo v > v.txt; exit 1', 'Victim'))
  await job.running.taskWhere(victim.id, (one) => one.error_annotation !== null)
  const thief = await job.task({ title: 'Thief' })
  const { path: mine } = await job.claim(thief, await job.agent(`echo t > t.txt; cp '${theirs}/.git' .git; echo done`))
  const held = await job.running.taskWhere(thief.id, (one) => one.error_annotation?.type === 'work_elsewhere')
  const before = await job.repository.git(['for-each-ref', 'refs/heads'])
  const merge = { task_id: thief.id, status: 'merging', version: held.version }
  await client.call('tasks.transition', merge).catch(() => undefined)
  expect(await job.repository.git(['for-each-ref', 'refs/heads'])).toBe(before)
  expect(await job.repository.git(['status', '--porcelain'], { cwd: theirs })).toBe('?? v.txt')
  await client.call('tasks.recover', { task_id: thief.id, action: 'take_work' })
  await job.running.taskWhere(thief.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await job.repository.git(['status', '--porcelain'], { cwd: theirs })).toBe('?? v.txt')
  expect(await job.repository.git(['status', '--porcelain'], { cwd: mine })).toBe('?? t.txt')
})
