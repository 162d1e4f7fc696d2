import { rename, writeFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refused } from '../../helpers/refusal.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'

const isPassed = (task: Task): boolean =>
  task.status === 'review' && task.review_passed_at !== null && !task.entry_barrier && task.active_execution_id === null

const passed = (job: Job, id: Task['id']) => job.running.taskWhere(id, isPassed)

async function work(job: Job, task: Task, command: string): Promise<Agent> {
  const agent = await job.agent(command, `Agent of ${task.title}`)
  await job.claim(task, agent)
  await passed(job, task.id)
  return agent
}

async function land(job: Job, id: Task['id']): Promise<void> {
  const { version } = await passed(job, id)
  await job.running.client.call('tasks.transition', { task_id: id, status: 'merging', version })
  await job.running.taskWhere(id, ({ status }) => status === 'done')
}

const ownFiles = async (job: Job, task_id: Task['id']): Promise<string[]> =>
  (await job.running.client.call('tasks.diff', { task_id, scope: 'branch' })).files.map(({ path }) => path)

async function stackOf(job: Job, ...commands: readonly string[]): Promise<readonly Task[]> {
  const tasks: Task[] = []
  for (const [at, command] of commands.entries()) {
    const below = tasks.at(-1)
    const task = await job.task({ title: `Level ${at}`, ...(below && { stacked_on: below.id }) })
    await work(job, task, command)
    tasks.push(task)
  }
  return tasks
}

const restacked = async (job: Job, id: Task['id'], times = 1) =>
  await expect
    .poll(
      async () => {
        const hooks = (await job.transitions(id)).flatMap((entry) => entry.hooks)
        return hooks.filter(({ action }) => action === 'restack').map(({ reason }) => reason)
      },
      { timeout: 100_000 },
    )
    .toHaveLength(times)

const notes = async (job: Job, id: Task['id']) =>
  (await job.transitions(id)).flatMap((entry) => entry.hooks).filter(({ action }) => action === 'restack')

test.each(['merge', 'squash', 'rebase'] as const)(
  'restacks a task when the one below lands by %s',
  async (merge_strategy) => {
    await using job = await startJob()
    await job.settings({ merge_strategy })
    const [lower, upper] = await stackOf(job, 'echo lower > lower.txt', 'echo upper > upper.txt')
    if (!lower || !upper) throw new Error('no stack')
    await land(job, lower.id)
    await land(job, upper.id)
    expect((await notes(job, upper.id)).at(-1)?.reason).toContain('is finished')
    expect(await job.repository.git(['show', 'main:lower.txt'])).toContain('lower')
    expect(await job.repository.git(['show', 'main:upper.txt'])).toContain('upper')
    const subjects = (await job.repository.git(['log', '--format=%s', 'main'])).split('\n')
    if (merge_strategy === 'squash') expect(subjects.filter((one) => one === 'Level 0')).toHaveLength(1)
  },
)

test('follows submitted commits below, and shows only the task’s own changes', async () => {
  await using job = await startJob()
  const command =
    'if [ -f lower.txt ]; then echo again > lower.txt; git add -A; git commit -q --amend -m again || git commit -qm again; else echo lower > lower.txt; fi'
  const [lower, upper] = await stackOf(job, command, 'echo upper > upper.txt')
  if (!lower || !upper) throw new Error('no stack')
  await job.running.client.call('tasks.verdict', { task_id: lower.id, verdict: 'fail', feedback: 'Again.' })
  await restacked(job, upper.id)
  const workspace = await job.running.client.call('tasks.workspace', { task_id: upper.id })
  expect((await readFile(join(workspace.path, 'lower.txt'), 'utf8')).trim()).toBe('again')
  expect(await ownFiles(job, upper.id)).toEqual(['upper.txt'])
  expect((await passed(job, upper.id)).diff_stat?.files).toBe(1)
  await land(job, lower.id)
  await land(job, upper.id)
  expect(await job.repository.git(['show', 'main:lower.txt'])).toContain('again')
})

test('takes uncommitted work along', async () => {
  await using job = await startJob()
  const [lower, upper] = await stackOf(job, 'echo lower > lower.txt', 'echo upper > upper.txt')
  if (!lower || !upper) throw new Error('no stack')
  const { path } = await job.running.client.call('tasks.workspace', { task_id: upper.id })
  await writeFile(join(path, 'loose.txt'), 'loose\n')
  await land(job, lower.id)
  await restacked(job, upper.id)
  expect(await readFile(join(path, 'loose.txt'), 'utf8')).toBe('loose\n')
  expect((await ownFiles(job, upper.id)).toSorted()).toEqual(['loose.txt', 'upper.txt'])
})

test('gives a conflict to the stacked task’s coder once, then to a person', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'one\n' } })
  const lowerAgent = 'if grep -q lower shared.txt; then echo other > shared.txt; else echo lower > shared.txt; fi'
  const [lower, upper] = await stackOf(job, lowerAgent, 'cat shared.txt; echo "$(cat shared.txt) upper" > shared.txt')
  if (!lower || !upper) throw new Error('no stack')
  const before = (await job.executions(upper.id)).length
  await job.running.client.call('tasks.verdict', { task_id: lower.id, verdict: 'fail', feedback: 'Again.' })
  const told = await job.running.taskWhere(
    upper.id,
    ({ error_annotation }) => error_annotation?.type === 'merge_conflict',
  )
  expect(told.error_annotation?.files).toEqual(['shared.txt'])
  const executions = await job.executions(upper.id)
  expect(executions).toHaveLength(before + 1)
  const history = await job.transitions(upper.id)
  const reasons = history.map(({ trigger_reason }) => trigger_reason ?? '')
  const told_coder = reasons.find((reason) => reason.includes('git rebase --onto')) ?? ''
  expect(told_coder).toContain('Level 0')
  expect(told_coder).toContain('shared.txt')
  // A person resolves it by hand.
  const { path } = await job.running.client.call('tasks.workspace', { task_id: upper.id })
  const git = (...args: readonly string[]) => job.repository.git(['-C', path, ...args])
  const [, onto = '', lies_on = ''] = /rebase --onto (\w+) (\w+)/.exec(told_coder) ?? []
  await git('rebase', '--quiet', '-X', 'theirs', '--onto', onto, lies_on)
  await job.running.client.call('tasks.update', { task_id: upper.id, title: 'Resolved' })
  await job.running.taskWhere(upper.id, ({ error_annotation }) => error_annotation === null)
  expect(await ownFiles(job, upper.id)).toEqual(['shared.txt'])
})

test('puts the branch back on the stack when the coder has resolved the conflict', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'one\n' } })
  const lowerAgent = 'if grep -q lower shared.txt; then echo other > shared.txt; else echo lower > shared.txt; fi'
  const upperAgent = [
    'line=$(printf "%s" "$SVC_PROMPT" | cat)',
    'if grep -q mine shared.txt; then',
    '  git add -A; git commit -qm own 2>/dev/null',
    '  base=$(git for-each-ref --format="%(refname:short)" refs/heads | grep level-0)',
    '  fork=$(git merge-base HEAD "$base")',
    '  git rebase --onto "$base" "$fork" || { echo "resolved mine" > shared.txt; git add -A; git -c core.editor=true rebase --continue; }',
    'else echo mine > shared.txt; fi',
  ].join('\n')
  const [lower, upper] = await stackOf(job, lowerAgent, upperAgent)
  if (!lower || !upper) throw new Error('no stack')
  await job.running.client.call('tasks.verdict', { task_id: lower.id, verdict: 'fail', feedback: 'Again.' })
  await job.running.taskWhere(upper.id, ({ status }) => status === 'in_progress')
  await passed(job, upper.id)
  await land(job, lower.id)
  await land(job, upper.id)
  expect(await job.repository.git(['show', 'main:shared.txt'])).toContain('resolved mine')
})

test('waits with the restack until a run has ended', async () => {
  await using job = await startJob()
  const lower = await job.task({ title: 'Lower' })
  await work(job, lower, 'echo lower > lower.txt')
  const upper = await job.task({ title: 'Upper', stacked_on: lower.id })
  const slow = await job.agent('echo upper > upper.txt; while [ ! -f go ]; do sleep 0.05; done; rm go', 'Slow')
  const { path } = await job.claim(upper, slow)
  await job.running.taskWhere(upper.id, ({ active_execution_id }) => active_execution_id !== null)
  await expect
    .poll(() => readFile(join(path, 'upper.txt'), 'utf8').catch(() => ''), { timeout: 100_000 })
    .toBe('upper\n')
  const head = await job.repository.git(['-C', path, 'rev-parse', 'HEAD'])
  await land(job, lower.id)
  expect(await job.repository.git(['-C', path, 'rev-parse', 'HEAD'])).toBe(head)
  expect(await notes(job, upper.id)).toEqual([])
  await writeFile(join(path, 'go'), '')
  await land(job, upper.id)
  expect(await job.repository.git(['show', 'main:upper.txt'])).toContain('upper')
})

test('continues from the base when the task below is cancelled, and says so', async () => {
  await using job = await startJob()
  const [lower, upper] = await stackOf(job, 'echo lower > lower.txt', 'echo upper > upper.txt')
  if (!lower || !upper) throw new Error('no stack')
  await job.running.client.call('tasks.cancel', { task_id: lower.id })
  await restacked(job, upper.id)
  expect((await notes(job, upper.id)).at(-1)?.reason).toContain('was cancelled')
  await land(job, upper.id)
  expect(await job.repository.git(['ls-tree', '--name-only', 'main'])).not.toContain('lower.txt')
  expect(await job.repository.git(['show', 'main:upper.txt'])).toContain('upper')
})

test('puts the upper of three on the lowest when the middle is deleted, and lands all', async () => {
  await using job = await startJob()
  const [a, b, c] = await stackOf(job, 'echo a > a.txt', 'echo b > b.txt', 'echo c > c.txt')
  if (!a || !b || !c) throw new Error('no stack')
  await job.running.client.call('tasks.delete', { task_id: b.id })
  await restacked(job, c.id)
  expect((await job.running.client.call('tasks.get', { task_id: c.id })).stacked_on).toBe(a.id)
  expect(await ownFiles(job, c.id)).toEqual(['c.txt'])
  await land(job, a.id)
  await land(job, c.id)
  const files = await job.repository.git(['ls-tree', '--name-only', 'main'])
  expect(files).toContain('a.txt')
  expect(files).toContain('c.txt')
  expect(files).not.toContain('b.txt')
})

test('moves a branch on and off a stack as stacked_on changes', async () => {
  await using job = await startJob()
  const lower = await job.task({ title: 'Lower' })
  const upper = await job.task({ title: 'Upper' })
  await work(job, lower, 'echo lower > lower.txt')
  await work(job, upper, 'echo upper > upper.txt')
  const { client } = job.running
  await client.call('tasks.update', { task_id: upper.id, stacked_on: lower.id })
  await restacked(job, upper.id)
  const { path } = await client.call('tasks.workspace', { task_id: upper.id })
  expect(await readFile(join(path, 'lower.txt'), 'utf8')).toBe('lower\n')
  expect(await ownFiles(job, upper.id)).toEqual(['upper.txt'])
  const other = await refused(client.call('tasks.update_branch', { task_id: upper.id, base_branch: 'main' }))
  expect(other.code).toBe('validation_failed')
  await client.call('tasks.update', { task_id: upper.id, stacked_on: null })
  await restacked(job, upper.id, 2)
  await expect(readFile(join(path, 'lower.txt'), 'utf8')).rejects.toThrow('ENOENT')
  await land(job, upper.id)
})

test('a task above one that is archived before it landed says so, until that is back or it is off the stack', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [lower, upper] = await stackOf(job, 'echo lower > lower.txt', 'echo upper > upper.txt')
  if (!lower || !upper) throw new Error('no stack')
  const told = (stack: string | undefined) =>
    job.running.taskWhere(upper.id, ({ error_annotation }) => error_annotation?.stack === stack)
  await client.call('tasks.archive', { task_id: lower.id })
  const { error_annotation, version } = await told('archived_below')
  expect(error_annotation?.message).toContain(`${lower.ref}, which this task is stacked on, was archived`)
  const refusal = await refused(client.call('tasks.transition', { task_id: upper.id, status: 'merging', version }))
  expect(refusal.code).toBe('dependency_gate')
  await client.call('tasks.unarchive', { task_id: lower.id })
  await told(undefined)
  const unclaimed = await job.task({ stacked_on: lower.id })
  await client.call('tasks.archive', { task_id: lower.id })
  await told('archived_below')
  await job.running.taskWhere(unclaimed.id, ({ error_annotation }) => error_annotation?.stack === 'archived_below')
  const freed = await client.call('tasks.update', { task_id: upper.id, stacked_on: null })
  expect(freed.error_annotation).toBeNull()
  await restacked(job, upper.id)
  await land(job, upper.id)
  expect(await job.repository.git(['ls-tree', '--name-only', 'main'])).not.toContain('lower.txt')
  await client.call('tasks.delete', { task_id: lower.id })
  expect((await client.call('tasks.get', { task_id: unclaimed.id })).error_annotation).toBeNull()
})

test('of a branch with merges in it the changes come along, as one commit', async () => {
  await using job = await startJob()
  const add = (name: string) => `echo ${name} > ${name}.txt && git add . && git commit -qm ${name}`
  const merged = `${add('one')}; git checkout -q --detach; ${add('side')}; side=$(git rev-parse HEAD); git checkout -q -; ${add('two')}; git merge -q --no-edit $side`
  const [lower, upper] = await stackOf(job, 'echo lower >> lower.txt', merged)
  if (!lower || !upper) throw new Error('no stack')
  const { branch } = await job.running.client.call('tasks.workspace', { task_id: upper.id })
  expect(await job.repository.git(['log', '--merges', '--format=%s', branch])).not.toBe('')
  await land(job, lower.id)
  await restacked(job, upper.id)
  expect(await ownFiles(job, upper.id)).toEqual(['one.txt', 'side.txt', 'two.txt'])
  expect(await job.repository.git(['rev-list', '--count', `main..${branch}`])).toBe('1')
  await land(job, upper.id)
})

test('an unfinished rebase in the worktree is left alone; the branch comes along once it is over', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [lower, upper] = await stackOf(job, 'echo lower > lower.txt', 'echo upper > upper.txt')
  if (!lower || !upper) throw new Error('no stack')
  const { path } = await client.call('tasks.workspace', { task_id: upper.id })
  const here = { cwd: path }
  await job.repository.git(['add', '.'], here)
  await job.repository.git(['commit', '-qm', 'Upper'], here)
  await job.repository.git(['rebase', '-q', '--exec', 'false', 'HEAD~1'], here).catch(() => undefined)
  const head = await job.repository.git(['rev-parse', 'HEAD'], here)
  await land(job, lower.id)
  const held = await job.running.taskWhere(upper.id, ({ error_annotation }) => error_annotation !== null)
  expect(held.error_annotation).toMatchObject({ type: 'workspace_error', stack: 'not_moved' })
  expect(held.error_annotation?.message).toContain('rebase')
  expect(await job.repository.git(['rev-parse', 'HEAD'], here)).toBe(head)
  await job.repository.git(['rebase', '--abort'], here)
  await client.call('tasks.update', { task_id: upper.id, title: 'Rebased' })
  await restacked(job, upper.id)
  await land(job, upper.id)
})

test('a file that git ignores is not overwritten by one of the task below; it is named until it is away', async () => {
  await using job = await startJob({ files: { '.gitignore': '*.log\n' } })
  const { client } = job.running
  const twice = 'if [ -e lower.txt ]; then echo theirs > out.log; git add -f out.log; fi; date +%N >> lower.txt'
  const [lower, upper] = await stackOf(job, twice, 'echo upper > upper.txt; echo mine > out.log')
  if (!lower || !upper) throw new Error('no stack')
  const { path } = await client.call('tasks.workspace', { task_id: upper.id })
  await client.call('tasks.feedback', { task_id: lower.id, message: 'Add the log.' })
  const held = await job.running.taskWhere(upper.id, ({ error_annotation }) => error_annotation !== null)
  expect(held.error_annotation).toMatchObject({ type: 'workspace_error', stack: 'not_moved' })
  expect(held.error_annotation?.message).toContain('others: out.log. Move them away.')
  expect(await readFile(join(path, 'out.log'), 'utf8')).toBe('mine\n')
  await rename(join(path, 'out.log'), join(path, 'mine.log'))
  await client.call('tasks.update', { task_id: upper.id, title: 'Moved' })
  await restacked(job, upper.id)
  expect(await readFile(join(path, 'out.log'), 'utf8')).toBe('theirs\n')
  expect((await client.call('tasks.get', { task_id: upper.id })).error_annotation).toBeNull()
})
