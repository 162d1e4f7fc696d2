import { chmod, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { quietly } from '../../helpers/quiet-command.ts'
import { refused } from '../../helpers/refusal.ts'
import { withHooks } from '../../helpers/small-workflow.ts'

const auto: StateHook = { plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'merging' } }
const reviewOf = async (job: Job, task_id: string) =>
  (await job.running.client.call('tasks.reviews', { task_id })).items[0]

test.concurrent('holds the review for a person if git’s configuration changed during a run, also under auto-cascade', async () => {
  await using job = await startJob({ workflow: withHooks({ review: { after_enter: [auto] } }) })
  const { client } = job.running
  const task = await job.task()
  const plant =
    'git config remote.evil.url /tmp/evil; mkdir -p "$(git rev-parse --git-common-dir)/hooks"; echo x > "$(git rev-parse --git-common-dir)/hooks/pre-push"'
  await job.claim(task, await job.agent(`${plant}; echo worked > work.txt; echo done`))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const notes = [{ kind: 'repository_changed', paths: ['config', 'hooks/pre-push'] }]
  expect(await reviewOf(job, task.id)).toMatchObject({ status: 'running', notes })
  const reasons = (await job.transitions(task.id)).flatMap((one) => one.hooks.map((hook) => hook.action))
  expect(reasons).toContain('repository_changed')
  // Neither an agent’s verdict nor its request for the merge is enough.
  const { version } = await client.call('tasks.get', { task_id: task.id })
  const early = await refused(client.call('tasks.transition', { task_id: task.id, status: 'merging', version }))
  expect(early.code).toBe('review_not_ready')
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' })
  expect((await job.running.taskWhere(task.id, (one) => one.status === 'done')).status).toBe('done')
})

test.concurrent('does not let a reviewer that changes the repository pass its own review', async () => {
  await using job = await startJob({ workflow: withHooks({ review: { after_enter: [auto] } }) })
  const { client } = job.running
  const task = await job.task()
  const reviewer = await job.agent(`git config alias.x '!true'; ${quietly('verdict', { verdict: 'pass' })}`, 'Reviewer')
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  await job.running.eventually(
    () => reviewOf(job, task.id),
    (review) => (review?.verdicts.length ?? 0) > 0,
  )
  const review = await reviewOf(job, task.id)
  expect(review).toMatchObject({ status: 'running', notes: [{ paths: ['config'] }] })
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('review')
})

test.concurrent('keeps notes at the next attempt until a person has passed one', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent('[ -e work.txt ] || git config user.nick x; date +%N > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
  await job.running.taskWhere(task.id, (one) => one.review_summary?.attempt_number === 2 && !one.entry_barrier)
  expect(await reviewOf(job, task.id)).toMatchObject({ status: 'running', notes: [{ paths: ['config'] }] })
})

test.concurrent('ignores branches and other tasks’ worktrees', async () => {
  await using job = await startJob()
  const task = await job.task()
  await job.claim(
    task,
    await job.agent('git branch other; git config branch.other.remote .; echo worked > work.txt; echo done'),
  )
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  expect(await reviewOf(job, task.id)).toMatchObject({ status: 'passed', notes: [] })
})

test.concurrent('lists what a repository makes git run before it is added', async () => {
  await using job = await startJob()
  const { client } = job.running
  const inspect = async () => (await client.call('system.inspect_folder', { path: job.repository.path })).runs
  expect(await inspect()).toEqual([])
  await job.repository.git(['config', 'filter.lock.clean', 'lock --clean'])
  await job.repository.git(['config', 'core.fsmonitor', '/bin/watch-it'])
  await job.repository.write({ '.git/hooks/post-checkout': '#!/bin/sh\n', '.git/hooks/pre-push.sample': '' })
  await job.repository.git(['config', 'diff.pdf.textconv', 'pdftotext'])
  expect(await inspect()).toEqual([
    { kind: 'fsmonitor', what: 'core.fsmonitor = /bin/watch-it' },
    { kind: 'filter', what: 'filter.lock.clean = lock --clean' },
    { kind: 'diff', what: 'diff.pdf.textconv = pdftotext' },
    { kind: 'hook', what: 'hooks/post-checkout' },
  ])
})

test.concurrent('reports a missing repository in diff, workspace, verdict and merge', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  const { version } = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await rename(job.repository.path, join(job.repository.beside, 'moved'))
  const task_id = task.id
  for (const ask of [
    () => client.call('tasks.diff', { task_id, scope: 'branch' }),
    () => client.call('tasks.diff', { task_id }),
    () => client.call('tasks.workspace', { task_id }),
    () => client.call('tasks.conflicts', { task_id }),
    () => client.call('tasks.verdict', { task_id, verdict: 'pass' }),
    () => client.call('tasks.transition', { task_id, status: 'merging', version }),
  ]) {
    const { code, message } = await refused(ask())
    expect(code).toBe('repository_missing')
    expect(message).toMatch(/^No git repository at .*\. If you moved it, update its path/)
  }
})

test.concurrent('runs no hook that a run planted when it moves a branch, and those that were there before', async () => {
  await using job = await startJob()
  const { client } = job.running
  const trace = join(job.repository.beside, 'trace')
  const hook = (name: string, says: string) => ({ [`.git/hooks/${name}`]: `#!/bin/sh\necho ${says} >> '${trace}'\n` })
  await job.repository.write(hook('reference-transaction', 'trusted'))
  await chmod(join(job.repository.path, '.git/hooks/reference-transaction'), 0o755)
  const [repo] = job.project.repos
  // Setting the path trusts the repository as it is.
  await client.call('repos.update', { project_id: job.project.id, repo_id: repo?.id ?? '', path: job.repository.path })
  const first = await job.task({ title: 'First' })
  await job.claim(first, await job.agent('echo work > work.txt; echo done'))
  const passed = await job.running.taskWhere(first.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await client.call('tasks.transition', { task_id: first.id, status: 'merging', version: passed.version })
  expect(await readFile(trace, 'utf8')).toContain('trusted')
  await writeFile(trace, '')
  const plant = `H="$(git rev-parse --git-common-dir)/hooks/post-checkout"; printf '#!/bin/sh\\necho planted >> %s\\n' '${trace}' > "$H"; chmod +x "$H"`
  const second = await job.task({ title: 'Second' })
  await job.claim(second, await job.agent(`${plant}; echo more > more.txt; echo done`, 'Planter'))
  await job.running.taskWhere(second.id, (one) => one.status === 'review' && !one.entry_barrier)
  await writeFile(trace, '')
  await client.call('tasks.verdict', { task_id: second.id, verdict: 'pass' })
  const { version } = await client.call('tasks.get', { task_id: second.id })
  await client.call('tasks.transition', { task_id: second.id, status: 'merging', version })
  await job.claim(await job.task({ title: 'Third' }), await job.agent('echo done', 'Third'))
  expect(await readFile(trace, 'utf8')).toBe('')
})
