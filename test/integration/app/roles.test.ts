import { access, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

const rescues = (job: Job) => job.repository.git(['for-each-ref', '--format=%(refname)', 'refs/svc/rescue'])

/** A task whose agent committed one file, left another uncommitted and a third ignored, and failed. */
async function halfDone(job: Job) {
  const script = 'echo c > committed.txt; git add -A; git commit -qm Work; echo u > loose.txt; echo l > x.log; exit 1'
  const agent = await job.agent(script, 'First')
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const { branch } = await job.running.client.call('tasks.workspace', { task_id: task.id })
  return { task, path, branch, next: await job.agent('ls > seen.txt; echo done', 'Second') }
}

const start = () => startJob({ files: { 'README.md': 'r\n', '.gitignore': '*.log\n' } })

test.concurrent('rule 2: a new coder ends the old one’s processes and returns the task to the queue', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const old = await job.agent(beacon.hold('old', `echo c > kept.txt; (${wait}); echo done`), 'Old')
  const next = await job.agent('echo done', 'Next')
  const task = await job.task()
  const { execution, path } = await job.claim(task, old)
  await beacon.alive('old')
  const { task: given } = await client.call('tasks.assign_role', {
    task_id: task.id,
    role: 'coder',
    agent_id: next.id,
  })
  // The answer comes when the process tree is gone.
  await beacon.gone('old')
  expect(given).toMatchObject({
    status: 'todo',
    roles: { coder: { type: 'agent', id: next.id } },
    review_passed_at: null,
    active_execution_id: null,
    error_annotation: null,
  })
  expect(await client.call('executions.get', { execution_id: execution.id })).toMatchObject({ status: 'cancelled' })
  expect(await job.executions(task.id)).toHaveLength(1)
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({ lock: null, status: 'ready' })
  expect(await refusalOf(job.claim(task, old))).toBe('already_claimed')
  expect((await job.claim(task, next)).path).toBe(path)
  expect(await readFile(join(path, 'kept.txt'), 'utf8')).toBe('c\n')
})

test.concurrent('voids a passed review with its coder', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo w > w.txt; echo done')
  const task = await job.task()
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { task: given } = await client.call('tasks.assign_role', {
    task_id: task.id,
    role: 'coder',
    agent_id: agent.id,
  })
  expect(given).toMatchObject({ status: 'todo', review_passed_at: null })
  expect(await job.history(task.id)).toContain('review > todo by user')
})

test.concurrent('rule 1: keeps a backlog task in place, and the roles of a finished one', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo hi')
  const task = await job.task()
  const role = { task_id: task.id, role: 'coder', agent_id: agent.id }
  expect((await client.call('tasks.assign_role', role)).task).toMatchObject({
    status: 'backlog',
    version: task.version + 1,
    roles: { coder: { id: agent.id } },
  })
  expect(await job.executions(task.id)).toEqual([])
  await client.call('tasks.cancel', { task_id: task.id })
  expect(await refusalOf(client.call('tasks.assign_role', role))).toBe('task_terminal')
})

test.concurrent('rule 4: another role is only saved while the coder works on', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const coder = await job.agent(beacon.hold('coder', `${wait}; echo w > w.txt; echo done`))
  const reviewer = await job.agent('echo hm', 'Reviewer')
  const task = await job.task()
  const { execution } = await job.claim(task, coder)
  await beacon.alive('coder')
  for (const role of ['reviewer', 'planner']) {
    const { task: given } = await client.call('tasks.assign_role', { task_id: task.id, role, agent_id: reviewer.id })
    expect(given).toMatchObject({ status: 'in_progress', active_execution_id: execution.id })
    expect(given.roles[role]).toEqual({ type: 'agent', id: reviewer.id })
  }
  // The agent runs a moment before its record says so.
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: execution.id }),
    (one) => one.status === 'running',
  )
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent'])
})

test.concurrent('refuses reset flags with another role than the coder’s', async () => {
  await using job = await start()
  const { client } = job.running
  const { task, next } = await halfDone(job)
  const before = await client.call('tasks.get', { task_id: task.id })
  for (const flag of ['reset_worktree', 'reset_workspace'] as const) {
    const call = client.call('tasks.assign_role', {
      task_id: task.id,
      role: 'reviewer',
      agent_id: next.id,
      [flag]: true,
    })
    const refusal = await refused(call)
    expect(refusal.code).toBe('validation_failed')
    expect(refusal.details).toMatchObject({ issues: [{ path: flag }] })
  }
  expect(await client.call('tasks.get', { task_id: task.id })).toEqual(before)
  expect(await rescues(job)).toBe('')
})

test.concurrent('rule 3: reset_worktree keeps commits, folder and ignored files, and rescues the rest', async () => {
  await using job = await start()
  const { client } = job.running
  const { task, path, branch, next } = await halfDone(job)
  const tip = await job.repository.git(['rev-parse', branch])
  const role = { task_id: task.id, role: 'coder', agent_id: next.id, reset_worktree: true }
  const { task: given } = await client.call('tasks.assign_role', role)
  expect(given).toMatchObject({ status: 'todo', error_annotation: null })
  expect((await readdir(path)).toSorted()).toEqual(['.git', '.gitignore', 'README.md', 'committed.txt', 'x.log'])
  expect(await job.repository.git(['rev-parse', branch])).toBe(tip)
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({
    dirty: false,
    ahead: 1,
    lock: null,
  })
  expect(await job.repository.git(['show', `${await rescues(job)}:loose.txt`])).toBe('u')
  expect(given.diff_stat).toEqual({ files: 1, additions: 1, deletions: 0 })
  await job.claim(task, next)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).toContain('committed.txt')
})

test.concurrent('rule 3: reset_workspace starts the next claim from the base branch and keeps the old work', async () => {
  await using job = await start()
  const { client } = job.running
  const { task, path, branch, next } = await halfDone(job)
  const tip = await job.repository.git(['rev-parse', branch])
  const base = await job.repository.commit('Meanwhile', { 'main.txt': 'm\n' })
  const role = { task_id: task.id, role: 'coder', agent_id: next.id, reset_workspace: true }
  const { task: given } = await client.call('tasks.assign_role', role)
  expect(given).toMatchObject({ status: 'todo', diff_stat: null, error_annotation: null })
  await expect(access(path)).rejects.toThrow('ENOENT')
  expect(await job.repository.git(['branch', '--list', branch])).toBe('')
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({
    status: 'cleaned',
    base_commit: null,
  })
  const rescue = await rescues(job)
  expect(rescue).toContain(`refs/svc/rescue/${task.id}/`)
  expect(await job.repository.git(['rev-parse', `${rescue}^`])).toBe(tip)
  expect(await job.repository.git(['show', `${rescue}:loose.txt`])).toBe('u')

  const again = await job.claim(task, next)
  expect(again.path).toBe(path)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).toBe('README.md\nmain.txt\nseen.txt\n')
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({ branch, base_commit: base })
})

test.concurrent('waits with a reset until the running coder has ended', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  // It would write once more when told to end.
  const script = `trap 'echo late > late.txt; exit 1' TERM; echo early > early.txt; while :; do ${wait}; done`
  const old = await job.agent(beacon.hold('old', script), 'Old')
  const task = await job.task()
  const { path } = await job.claim(task, old)
  await beacon.alive('old')
  const next = await job.agent('echo hi', 'Next')
  const role = { task_id: task.id, role: 'coder', agent_id: next.id, reset_worktree: true }
  await client.call('tasks.assign_role', role)
  await beacon.gone('old')
  expect((await readdir(path)).toSorted()).toEqual(['.git', 'README.md'])
})

test.concurrent('resets nothing without a workspace', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo hi')
  const task = await job.task()
  const role = { task_id: task.id, role: 'coder', agent_id: agent.id, reset_worktree: true, reset_workspace: true }
  const { task: given } = await client.call('tasks.assign_role', role)
  expect(given).toMatchObject({ status: 'backlog', error_annotation: null, roles: { coder: { id: agent.id } } })
  expect(await refusalOf(client.call('tasks.workspace', { task_id: task.id }))).toBe('not_found')
  expect(await rescues(job)).toBe('')
})

test.concurrent('allows a second reset of the same workspace', async () => {
  await using job = await start()
  const { client } = job.running
  const { task, next } = await halfDone(job)
  const role = { task_id: task.id, role: 'coder', agent_id: next.id, reset_workspace: true }
  await client.call('tasks.assign_role', role)
  const kept = await rescues(job)
  const { task: again } = await client.call('tasks.assign_role', role)
  expect(again).toMatchObject({ status: 'todo', error_annotation: null })
  expect(await rescues(job)).toBe(kept)
})

test.concurrent('reports a failed reset on the task, and loses nothing', async () => {
  await using job = await start()
  const { client } = job.running
  const { task, path, branch, next } = await halfDone(job)
  const tip = await job.repository.git(['rev-parse', branch])
  // A user has the branch checked out.
  await job.repository.git(['switch', '-q', '--ignore-other-worktrees', branch])
  const role = { task_id: task.id, role: 'coder', agent_id: next.id, reset_workspace: true }
  const { task: given } = await client.call('tasks.assign_role', role)
  expect(given).toMatchObject({
    status: 'todo',
    roles: { coder: { id: next.id } },
    error_annotation: { type: 'workspace_error', message: expect.stringContaining(branch) },
  })
  expect(await job.repository.git(['rev-parse', branch])).toBe(tip)
  expect(await job.repository.git(['show', `${await rescues(job)}:loose.txt`])).toBe('u')
  await job.repository.git(['switch', '-q', 'main'])
  expect((await client.call('tasks.assign_role', role)).task.error_annotation).toBeNull()
  await job.claim(task, next)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).not.toContain('committed.txt')
})

test.concurrent('resets only uncommitted work of an ordered subtask, never its parent’s branch', async () => {
  await using job = await start()
  const { client } = job.running
  const { task: parent, path, next } = await halfDone(job)
  const child = await job.task({ title: 'Child', parent_id: parent.id, subtask_mode: 'ordered' })
  const role = { task_id: child.id, role: 'coder', agent_id: next.id }
  const refusal = await refused(client.call('tasks.assign_role', { ...role, reset_workspace: true }))
  expect(refusal).toMatchObject({ code: 'validation_failed', details: { issues: [{ path: 'reset_workspace' }] } })
  await client.call('tasks.assign_role', { ...role, reset_worktree: true })
  expect((await readdir(path)).toSorted()).toEqual(['.git', '.gitignore', 'README.md', 'committed.txt', 'x.log'])
  expect(await rescues(job)).toContain(child.id)
})

test.concurrent('rule 5: an agent can’t reassign', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const call = `fetch(process.env.SVC_API_URL+"/api/v1/tasks/"+process.env.SVC_TASK_ID+"/roles/coder",{method:"POST",headers:{authorization:"Bearer "+process.env.SVC_API_TOKEN,"content-type":"application/json"},body:JSON.stringify({agent_id:process.env.SVC_AGENT_ID})}).then(r=>r.json()).then(b=>console.log(b.error.code))`
  const agent = await job.agent(`node -e '${call}' > answer.txt; echo done`)
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await readFile(join(path, 'answer.txt'), 'utf8')).toBe('humans_only\n')
  expect((await client.call('tasks.get', { task_id: task.id })).roles).toEqual({
    coder: { type: 'agent', id: agent.id },
  })
})
