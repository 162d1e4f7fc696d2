import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait, type ProcessBeacon } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { ordered, workedParent } from '../../helpers/worked-parent.ts'
import { present } from '../../helpers/present.ts'

/** A parent whose coder works until the test releases `parent`. */
async function busyParent(job: Job, beacon: ProcessBeacon): Promise<{ parent: Task; path: string }> {
  const agent = await job.agent(beacon.hold('parent', `${wait}; echo parent > parent.txt; echo done`), 'Parent')
  const parent = await job.task({ title: 'Parent' })
  const { path } = await job.claim(parent, agent)
  await beacon.alive('parent')
  return { parent, path }
}

const waitingClaim = (job: Job, task: Task, agent: Agent) =>
  job.running.client.call('tasks.claim', {
    task_id: task.id,
    agent_id: agent.id,
    overrides: { lock_policy: 'wait' },
  })

test.concurrent('creates an independent subtask by default, in its parent’s repository and project', async () => {
  await using job = await startJob()
  const parent = await job.task()
  const child = await job.task({ title: 'Child', parent_id: parent.id })
  expect(child).toMatchObject({ parent_id: parent.id, subtask_mode: 'independent', repo_id: parent.repo_id })
  expect(await job.task(ordered(parent))).toMatchObject({ parent_id: parent.id, subtask_mode: 'ordered' })
  expect(parent).toMatchObject({ parent_id: null, subtask_mode: null })
  const { items } = await job.running.client.call('tasks.list', { project_id: job.project.id, parent_id: parent.id })
  expect(items.map((one) => one.title).toSorted()).toEqual(['Child', 'Subtask'])
})

test.concurrent('refuses a subtask without a suitable parent', async () => {
  await using job = await startJob()
  const { client } = job.running
  const elsewhere = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const stranger = await client.call('tasks.create', { project_id: elsewhere.id, title: 'Stranger' })
  const issue = async (more: Parameters<Job['task']>[0]) => {
    const { code, details } = await refused(job.task(more))
    return [code, (details?.['issues'] as { path: string }[] | undefined)?.[0]?.path]
  }
  expect(await issue({ subtask_mode: 'ordered' })).toEqual(['validation_failed', 'subtask_mode'])
  expect(await issue({ parent_id: stranger.id })).toEqual(['validation_failed', 'parent_id'])
  // An ID that is no task's.
  expect(await issue({ parent_id: job.project.id as string as Task['id'] })).toEqual(['validation_failed', 'parent_id'])
  const finished = await job.task()
  await client.call('tasks.cancel', { task_id: finished.id })
  expect(await issue({ parent_id: finished.id })).toEqual(['task_terminal', undefined])
})

test.concurrent('worktree rule 2: gives an independent subtask its own worktree, an ordered one its parent’s', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { parent, path } = await workedParent(job)
  const own = await job.task({ title: 'Own', parent_id: parent.id })
  const agent = await job.agent('ls > seen.txt; echo done')
  const apart = await job.claim(own, agent)
  await job.running.taskWhere(own.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(apart.path).not.toBe(path)
  expect(await readFile(join(apart.path, 'seen.txt'), 'utf8')).not.toContain('parent.txt')

  const turn = await job.task(ordered(parent))
  const shared = await job.claim(turn, agent)
  await job.running.taskWhere(turn.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(shared.path).toBe(path)
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).toContain('parent.txt')
  const shown = await client.call('tasks.workspace', { task_id: turn.id })
  expect(shown).toMatchObject({ task_id: parent.id, path, status: 'ready', lock: null })
  const { files } = await client.call('tasks.diff', { task_id: turn.id })
  expect(files.map((file) => file.path).toSorted()).toEqual(['parent.txt', 'seen.txt'])
})

test.concurrent('puts an ordered subtask of an ordered subtask in the topmost worktree', async () => {
  await using job = await startJob()
  const { parent, path } = await workedParent(job)
  const agent = await job.agent('pwd > where.txt; echo done')
  const child = await job.task(ordered(parent, 'Child'))
  const grandchild = await job.task(ordered(child, 'Grandchild'))
  expect(await refusalOf(job.claim(grandchild, agent))).toBe('PARENT_WORKSPACE_REQUIRED')
  await job.claim(child, agent)
  await job.running.taskWhere(child.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect((await job.claim(grandchild, agent)).path).toBe(path)
  await job.running.taskWhere(grandchild.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('worktree rule 3: answers PARENT_WORKSPACE_REQUIRED without a coder and workspace at the parent', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo done > done.txt; echo done')
  const fresh = await job.task({ title: 'Fresh' })
  const first = await job.task(ordered(fresh))
  expect(await refused(job.claim(first, agent))).toMatchObject({ code: 'PARENT_WORKSPACE_REQUIRED', status: 409 })
  await client.call('tasks.assign_role', { task_id: fresh.id, role: 'coder', agent_id: agent.id })
  expect(await refusalOf(job.claim(first, agent))).toBe('PARENT_WORKSPACE_REQUIRED')
  // A person gets the same answer.
  expect(await refusalOf(client.call('tasks.claim', { task_id: first.id }))).toBe('PARENT_WORKSPACE_REQUIRED')
  expect(await job.history(first.id)).toEqual([])

  const { parent } = await workedParent(job)
  const second = await job.task(ordered(parent))
  const reset = { task_id: parent.id, role: 'coder', agent_id: agent.id, reset_workspace: true }
  await client.call('tasks.assign_role', reset)
  expect(await refusalOf(job.claim(second, agent))).toBe('PARENT_WORKSPACE_REQUIRED')
  await job.claim(parent, agent)
  await job.running.taskWhere(parent.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.claim(second, agent)
  await job.running.taskWhere(second.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('worktree rule 4: refuses a claim while another works in the worktree, or lets it wait', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { parent, path } = await busyParent(job, beacon)
  const child = await job.task(ordered(parent))
  const agent = await job.agent(beacon.hold('child', 'ls > seen.txt; echo done'))
  const locked = await refused(job.claim(child, agent))
  expect(locked.code).toBe('workspace_locked')
  expect(locked.message).toContain('wait')
  expect(await job.history(child.id)).toEqual([])

  const waiting = await waitingClaim(job, child, agent)
  expect(waiting).toMatchObject({ task: { status: 'in_progress' }, workspace: { path, task_id: parent.id } })
  const status = async () =>
    (await client.call('executions.get', { execution_id: present(waiting.execution).id })).status
  expect(await status()).toBe('queued')
  await beacon.release('parent')
  await beacon.alive('child')
  await job.running.taskWhere(child.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await status()).toBe('succeeded')
  // It began only after the other had ended.
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).toContain('parent.txt')
})

test.concurrent('lets claims for one worktree take turns in their order, each alone', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { parent, path } = await busyParent(job, beacon)
  const turns: Task[] = []
  for (const name of ['first', 'second', 'third']) {
    const script = `test ! -e busy || exit 9; touch busy; ${wait}; echo ${name} >> turns.txt; rm busy; echo done`
    const task = await job.task(ordered(parent, name))
    await waitingClaim(job, task, await job.agent(beacon.hold(name, script), name))
    turns.push(task)
  }
  const statuses = () => Promise.all(turns.map(async (task) => (await job.executions(task.id))[0]?.status))
  await beacon.release('parent')
  await beacon.alive('first')
  const begun = await job.running.eventually(statuses, (all) => all[0] === 'running')
  expect(begun).toEqual(['running', 'queued', 'queued'])
  for (const name of ['first', 'second', 'third']) await beacon.release(name)
  await job.running.eventually(statuses, (all) => all.every((one) => one === 'succeeded'))
  expect(await readFile(join(path, 'turns.txt'), 'utf8')).toBe('first\nsecond\nthird\n')
})

test.concurrent('grants the worktree to exactly one of many simultaneous claims', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { parent } = await workedParent(job)
  const agent = await job.agent(beacon.hold('agent', `${wait}; echo done`))
  const children = await Promise.all(Array.from({ length: 10 }, (_, index) => job.task(ordered(parent, `S${index}`))))
  const answers = await Promise.allSettled(children.map((child) => job.claim(child, agent)))
  const codes = answers.map((answer) =>
    answer.status === 'rejected' ? (answer.reason as { code: string }).code : 'claimed',
  )
  expect(codes.toSorted()).toEqual(['claimed', ...Array.from({ length: 9 }, () => 'workspace_locked')])
  await beacon.alive('agent')
})

test.concurrent('makes a parent wait for its subtask too', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { parent } = await workedParent(job)
  const child = await job.task(ordered(parent))
  await job.claim(child, await job.agent(beacon.hold('child', `${wait}; echo done > c.txt; echo done`)))
  await beacon.alive('child')
  const agent = await job.agent(beacon.hold('again', 'echo again > again.txt; echo done'))
  // A new coder for the parent leaves the subtask's agent alone, unless its files were to be removed.
  const role = { task_id: parent.id, role: 'coder', agent_id: agent.id }
  const before = await client.call('tasks.get', { task_id: parent.id })
  for (const reset of [{ reset_worktree: true }, { reset_workspace: true }]) {
    expect(await refusalOf(client.call('tasks.assign_role', { ...role, ...reset }))).toBe('workspace_locked')
  }
  expect(await client.call('tasks.get', { task_id: parent.id })).toEqual(before)
  await client.call('tasks.assign_role', role)
  expect(await refusalOf(job.claim(parent, agent))).toBe('workspace_locked')
  const claimed = await waitingClaim(job, parent, agent)
  expect(present(claimed.execution).status).toBe('queued')
  await beacon.release('child')
  await beacon.alive('again')
  await job.running.taskWhere(parent.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('stops a claim that waits for a worktree, or keeps it across a restart', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { parent, path } = await busyParent(job, beacon)
  const agent = await job.agent(beacon.hold('child', 'echo child > child.txt; echo done'))
  const [given, kept] = [await job.task(ordered(parent, 'Given up')), await job.task(ordered(parent, 'Kept'))]
  const { execution } = await waitingClaim(job, given, agent)
  await waitingClaim(job, kept, agent)
  const stopped = await job.running.client.call('executions.stop', { execution_id: present(execution).id })
  expect(stopped).toMatchObject({
    execution: { status: 'stopped' },
    task: { status: 'in_progress', error_annotation: { type: 'execution_paused' } },
  })
  job.running = await job.running.restart()
  // The parent's agent ended with the service, so the waiting one has its turn.
  await job.running.taskWhere(kept.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await readFile(join(path, 'child.txt'), 'utf8')).toBe('child\n')
  expect((await job.executions(given.id)).map((one) => one.status)).toEqual(['stopped'])
})

test.concurrent('notifies viewers of an ordered subtask of changes to the parent’s worktree', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { parent } = await workedParent(job)
  const child = await job.task(ordered(parent))
  const stop = new AbortController()
  const events = client.events({}, null, stop.signal)[Symbol.asyncIterator]()
  const heard = (async () => {
    for (;;) {
      const next = await events.next()
      if (next.done) return null
      const item = next.value
      if (item.kind !== 'event' || item.event.type !== 'workspace.updated') continue
      if (item.event.data.task_id === child.id) return item.event.data.status
    }
  })()
  const agent = await job.agent('echo hi')
  const reset = { task_id: parent.id, role: 'coder', agent_id: agent.id, reset_workspace: true }
  await client.call('tasks.assign_role', reset)
  expect(await heard).toBe('cleaned')
  stop.abort()
})

test.concurrent('does not start a subtask in another worktree when its parent’s is gone', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { parent, path } = await workedParent(job)
  const child = await job.task(ordered(parent))
  const agent = await job.agent('echo no luck; exit 1')
  await job.claim(child, agent)
  await job.running.taskWhere(child.id, (one) => one.error_annotation?.type === 'execution_failed')
  const reset = { task_id: parent.id, role: 'coder', agent_id: agent.id, reset_workspace: true }
  await client.call('tasks.assign_role', reset)
  await client.call('tasks.recover', { task_id: child.id, action: 'retry_execution' })
  const stuck = await job.running.taskWhere(
    child.id,
    (one) => one.error_annotation?.message.includes('parent') === true,
  )
  expect(stuck).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_failed' } })
  await expect(access(path)).rejects.toThrow('ENOENT')
  expect(await client.call('tasks.workspace', { task_id: child.id })).toMatchObject({ status: 'cleaned' })
})
