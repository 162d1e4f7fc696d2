import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { withHooks } from '../../helpers/small-workflow.ts'

const files = { 'shared.txt': 'base\n', 'README.md': '# Job\n' }

/** Follows the prompt in the worktree, and combines both sides of the conflict. */
const resolving =
  'cat > ../prompt.txt; eval "$(grep -o "git [a-z]* [0-9a-f]\\{40\\}" ../prompt.txt)" > /dev/null; ' +
  'printf "theirs\\nmine\\n" > shared.txt; git add shared.txt; ' +
  'git -c core.editor=true rebase --continue > /dev/null 2>&1 || git commit -q --no-edit; echo done'

const update = (job: Job, task: Task, more: Partial<OperationInput<'tasks.update_branch'>> = {}) =>
  job.running.client.call('tasks.update_branch', { task_id: task.id, ...more })
const merge = (job: Job, task: Task) =>
  job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version })
const reviewed = (job: Job, task: Task) =>
  job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
const teach = (job: Job, agent: Agent, command: string) =>
  job.running.client.call('agents.update', { agent_id: agent.id, config: { command } })
const hooksOf = async (job: Job, task: Task) => (await job.transitions(task.id)).flatMap((entry) => entry.hooks)

/** A task whose coder failed after a change of `shared.txt`, committed or not. */
async function stopped(job: Job, change: string): Promise<{ task: Task; path: string; agent: Agent }> {
  const agent = await job.agent(`${change}; exit 1`)
  const task = await job.task({ title: 'Change the shared line' })
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  return { task, path, agent }
}

/** A task whose merge has failed in a conflict over `shared.txt`. */
async function conflicting(job: Job): Promise<{ task: Task; agent: Agent }> {
  const agent = await job.agent('echo theirs > shared.txt; echo done')
  const task = await job.task({ title: 'Change the shared line' })
  await job.claim(task, agent)
  const ready = await reviewed(job, task)
  await job.repository.commit('Change it too', { 'shared.txt': 'mine\n' })
  const failed = await merge(job, ready)
  expect(failed.task.status).toBe('merge_failed')
  return { task: failed.task, agent }
}

test.concurrent('update_branch commits uncommitted work, merges the base and reports that', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const { task, path } = await stopped(job, 'echo work > work.txt')
  await job.repository.commit('Meanwhile', { 'other.txt': 'other\n' })
  const base = await job.repository.git(['rev-parse', 'main'])
  const updated = await update(job, task)
  const head = await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })
  expect(updated).toMatchObject({
    outcome: 'updated',
    strategy: 'merge',
    head_commit: head,
    base_commit: base,
    rescue_ref: null,
    path,
    files: [],
    execution: null,
  })
  expect(updated.task.diff_stat).toEqual({ files: 1, additions: 1, deletions: 0 })
  expect(await readFile(join(path, 'other.txt'), 'utf8')).toBe('other\n')
  const workspace = await client.call('tasks.workspace', { task_id: task.id })
  expect(workspace).toMatchObject({ dirty: false, ahead: 2, behind: 0, lock: null, base_commit: base })
  const subjects = await job.repository.git(['log', '--first-parent', '-2', '--format=%s%n%b', head])
  expect(subjects).toContain(`Merge main into ${workspace.branch}\nCopse-Task: ${task.id}`)
  expect(subjects).toContain(`Keep uncommitted work\nCopse-Task: ${task.id}`)
  expect((await hooksOf(job, task)).at(-1)).toEqual({
    phase: 'after_enter',
    action: 'update_branch',
    outcome: 'ok',
    reason: `user:owner: ${workspace.branch} has all of main now (${base.slice(0, 12)}) and is at ${head.slice(0, 12)}`,
    duration_ms: 0,
  })
  expect(await update(job, task)).toMatchObject({ outcome: 'up_to_date', head_commit: head, base_commit: base })
  expect((await hooksOf(job, task)).filter((hook) => hook.action === 'update_branch')).toHaveLength(1)
})

test.concurrent('keeps the commits that a rebase replaces', async () => {
  await using job = await startJob({ files })
  const { task, path } = await stopped(job, 'echo work > work.txt; git add .; git commit -qm Work')
  const before = await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })
  const base = await job.repository.commit('Meanwhile', { 'other.txt': 'other\n' })
  const updated = await update(job, task, { strategy: 'rebase' })
  expect(updated).toMatchObject({ outcome: 'updated', strategy: 'rebase', base_commit: base })
  expect(await job.repository.git(['rev-parse', 'HEAD^'], { cwd: path })).toBe(base)
  expect(await job.repository.git(['rev-parse', updated.rescue_ref ?? ''])).toBe(before)
  const { items } = await job.running.client.call('rescues.of_task', { task_id: task.id })
  expect(items).toMatchObject([{ reason: 'rewritten', kind: 'commits' }])
})

test.concurrent('refuses a conflict with its files and places, and changes nothing', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  await job.settings({ redaction_patterns: ['mi[n]e'] })
  const { task, path } = await stopped(job, 'echo theirs > shared.txt')
  await job.repository.commit('Change it too', { 'shared.txt': 'mine\n' })
  const before = await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })
  const refusal = await refused(update(job, task))
  expect(refusal).toMatchObject({
    code: 'merge_conflict',
    status: 409,
    details: { files: ['shared.txt'], left: false },
  })
  const { branch } = await client.call('tasks.workspace', { task_id: task.id })
  const text = `<<<<<<< ${branch}\ntheirs\n=======\n[redacted]\n>>>>>>> main\n`
  const hunk = { path: 'shared.txt', kind: 'content', line: 1, text, truncated: false }
  expect(refusal.details?.['hunks']).toEqual([hunk])
  expect(await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })).toBe(before)
  expect(await job.repository.git(['status', '--porcelain'], { cwd: path })).toBe(' M shared.txt')
  expect((await hooksOf(job, task)).map((hook) => hook.action)).not.toContain('update_branch')
  // Uncommitted work would be merged, too.
  expect((await client.call('tasks.conflicts', { task_id: task.id })).files).toEqual(['shared.txt'])
  await job.repository.git(['commit', '-qam', 'Theirs'], { cwd: path })
  const found = await client.call('tasks.conflicts', { task_id: task.id })
  expect(found).toMatchObject({ branch, base_branch: 'main', files: ['shared.txt'] })
  expect(found.hunks).toMatchObject([{ path: 'shared.txt', text: expect.stringContaining('[redacted]') }])
})

test.concurrent.each(['merge', 'rebase'] as const)(
  'lets the coder resolve the conflict of a failed merge by %s, then merges',
  async (strategy) => {
    await using job = await startJob({ files })
    const { task, agent } = await conflicting(job)
    await teach(job, agent, resolving)
    const base = await job.repository.git(['rev-parse', 'main'])
    const handed = await update(job, task, { on_conflict: 'agent', strategy })
    expect(handed).toMatchObject({ outcome: 'agent', strategy, base_commit: base, files: ['shared.txt'] })
    expect(handed.task).toMatchObject({ status: 'in_progress', error_annotation: null })
    expect(handed.execution).toMatchObject({ role: 'coder', agent_id: agent.id, task_id: task.id })
    const again = await reviewed(job, task)
    const prompt = (await job.executions(task.id))[0]?.prompt ?? ''
    expect(prompt).toContain(`git ${strategy} ${base}`)
    expect(prompt).toContain('- `shared.txt`')
    expect(prompt).toContain('=======')
    expect((await merge(job, again)).task.status).toBe('done')
    expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('theirs\nmine')
  },
)

test.concurrent('gives the coder the conflict at once where the task stays in its state, with its work committed', async () => {
  await using job = await startJob({ files })
  const { task, path, agent } = await stopped(job, 'echo theirs > shared.txt')
  await job.repository.commit('Change it too', { 'shared.txt': 'mine\n' })
  await teach(job, agent, resolving)
  const handed = await update(job, task, { on_conflict: 'agent' })
  expect(handed).toMatchObject({ outcome: 'agent', task: { status: 'in_progress' }, execution: { role: 'coder' } })
  await reviewed(job, task)
  expect(await readFile(join(path, 'shared.txt'), 'utf8')).toBe('theirs\nmine\n')
  expect(await job.repository.git(['log', '--first-parent', '-2', '--format=%s', 'HEAD'], { cwd: path })).toMatch(
    /^Merge commit .*\nKeep uncommitted work$/,
  )
  const said = (await hooksOf(job, task)).find((hook) => hook.action === 'update_branch')
  expect(said?.outcome).toBe('failed')
  expect(said?.reason).toMatch(/^user:owner: one file conflicts with main \([0-9a-f]{12}\): shared\.txt$/)
})

test.concurrent('opens the conflict of a failed merge in an editor, and merges again', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const { task } = await conflicting(job)
  const opened = await update(job, task, { on_conflict: 'editor' })
  expect(opened).toMatchObject({ outcome: 'editor', files: ['shared.txt'], execution: null })
  expect(opened.task).toMatchObject({
    status: 'merge_failed',
    error_annotation: { type: 'merge_conflict', recovery_actions: ['retry_merge'] },
  })
  expect(opened.task.error_annotation?.message).toContain(opened.path)
  const marked = await readFile(join(opened.path, 'shared.txt'), 'utf8')
  expect(marked).toMatch(/^<<<<<<< HEAD\ntheirs\n=======\nmine\n>>>>>>> /)
  // Asking again begins nothing twice, and merges nothing half-resolved.
  expect(await update(job, task, { on_conflict: 'editor' })).toMatchObject({ outcome: 'editor', files: ['shared.txt'] })
  expect((await refused(update(job, task))).details).toMatchObject({ left: true, files: ['shared.txt'] })
  const retry = async () => {
    const { tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    return client.call('tasks.recover', { task_id: task.id, action: 'retry_merge', tree: tree ?? '' })
  }
  expect(await refusalOf(retry())).toBe('workspace_failed')
  await writeFile(join(opened.path, 'shared.txt'), 'theirs and mine\n')
  const merged = await retry()
  expect(merged.task).toMatchObject({ status: 'done', error_annotation: null })
  expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('theirs and mine')
  const subjects = await job.repository.git(['log', '--format=%s', 'main'])
  expect(subjects).toMatch(/^Merge main into svc\//m)
})

test.concurrent('gives a merge that was left for an editor to the coder', async () => {
  await using job = await startJob({ files })
  const { task, agent } = await conflicting(job)
  const { path } = await update(job, task, { on_conflict: 'editor' })
  await teach(job, agent, resolving)
  const handed = await update(job, task, { on_conflict: 'agent', strategy: 'rebase' })
  expect(handed).toMatchObject({ outcome: 'agent', strategy: 'merge' })
  await reviewed(job, task)
  expect(await readFile(join(path, '../prompt.txt'), 'utf8')).toContain('The merge is already started in your worktree')
  expect(await readFile(join(path, 'shared.txt'), 'utf8')).toBe('theirs\nmine\n')
})

test.concurrent('updates without a worktree after a failed merge if there is no conflict, and says so', async () => {
  await using job = await startJob({ files })
  const { task } = await conflicting(job)
  await job.repository.commit('Take it back', { 'shared.txt': 'base\n', 'more.txt': 'more\n' })
  const updated = await update(job, task)
  expect(updated.outcome).toBe('updated')
  expect(updated.task).toMatchObject({
    status: 'merge_failed',
    error_annotation: { type: 'merge_conflict', files: [], hunks: [], recovery_actions: ['retry_merge'] },
  })
  const workspace = await job.running.client.call('tasks.workspace', { task_id: task.id })
  expect(workspace).toMatchObject({ status: 'cleaned', base_commit: updated.base_commit })
  expect(await job.repository.git(['show', `${workspace.branch}:more.txt`])).toBe('more')
  const { tree } = await job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  const retry = { task_id: task.id, action: 'retry_merge', tree: tree ?? '' } as const
  const retried = await job.running.client.call('tasks.recover', retry)
  expect(retried.task.status).toBe('done')
  expect(await job.repository.git(['show', 'main:shared.txt'])).toBe('theirs')
})

test.concurrent('updates nothing during a run, or without a branch', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({ files })
  const { client } = job.running
  const task = await job.task()
  expect(await refusalOf(update(job, task))).toBe('not_claimable')
  expect(await refusalOf(client.call('tasks.conflicts', { task_id: task.id }))).toBe('not_found')
  const { execution, path } = await job.claim(task, await job.agent(beacon.hold('agent', 'sleep 1000')))
  await beacon.alive('agent')
  await job.repository.commit('Meanwhile', { 'other.txt': 'other\n' })
  const before = await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })
  expect(await refusalOf(update(job, task))).toBe('workspace_locked')
  expect(await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })).toBe(before)
  await client.call('executions.stop', { execution_id: execution.id })
  expect((await update(job, task)).outcome).toBe('updated')
  await client.call('tasks.cancel', { task_id: task.id })
  expect(await refusalOf(update(job, task))).toBe('task_terminal')
})

test.concurrent('waits with an update for what the task does automatically', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({ files })
  const task = await job.task({ review_config: { ci_steps: [beacon.hold('ci', wait)], review_prompt: null } })
  await job.claim(task, await job.agent('echo work > work.txt; echo done'))
  await beacon.alive('ci')
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({ entry_barrier: true })
  const base = await job.repository.commit('Meanwhile', { 'other.txt': 'other\n' })
  const asked = update(job, task)
  await beacon.release('ci')
  expect(await asked).toMatchObject({ outcome: 'updated', base_commit: base, task: { status: 'review' } })
})

test.concurrent('does not wait for a task that a hook blocks at its entry', async () => {
  const workflow = withHooks({ review: { before_enter: [{ script: 'exit 1' }] } })
  await using job = await startJob({ files, workflow })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'hook_failed')
  expect(await refusalOf(update(job, task))).toBe('entry_barrier')
})

test.concurrent('leaves ignored files alone that the base has too, and names them', async () => {
  await using job = await startJob({ files: { ...files, '.gitignore': '*.env\n' } })
  const { task, path } = await stopped(job, 'echo theirs > shared.txt; echo secret > local.env')
  await job.repository.write({ 'local.env': 'tracked\n' })
  await job.repository.git(['add', '--force', 'local.env'])
  await job.repository.commit('Track it', { 'shared.txt': 'mine\n' })
  const refusal = await refused(update(job, task, { on_conflict: 'editor' }))
  expect(refusal).toMatchObject({ code: 'workspace_failed', details: { files: ['local.env'] } })
  expect(await readFile(join(path, 'local.env'), 'utf8')).toBe('secret\n')
  expect(await job.repository.git(['status', '--porcelain'], { cwd: path })).toBe('')
})

test.concurrent('leaves a merge in the worktree across a restart', async () => {
  await using job = await startJob({ files })
  const { task } = await conflicting(job)
  const { path } = await update(job, task, { on_conflict: 'editor' })
  const marked = await readFile(join(path, 'shared.txt'), 'utf8')
  job.running = await job.running.restart()
  expect(await readFile(join(path, 'shared.txt'), 'utf8')).toBe(marked)
  await writeFile(join(path, 'shared.txt'), 'both\n')
  const concluded = await update(job, task)
  expect(concluded).toMatchObject({ outcome: 'updated', strategy: 'merge' })
  expect(await job.repository.git(['status', '--porcelain'], { cwd: path })).toBe('')
  expect(await job.repository.git(['show', 'HEAD:shared.txt'], { cwd: path })).toBe('both')
})
