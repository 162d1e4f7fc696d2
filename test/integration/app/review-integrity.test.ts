import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { withHooks } from '../../helpers/small-workflow.ts'

const inMain = (job: Job, path: string) => job.repository.git(['show', `main:${path}`])
const diffOf = async (job: Job, task_id: string, more: { path?: string; scope?: 'uncommitted' | 'branch' } = {}) => {
  const diff = await job.running.client.call('tasks.diff', { task_id, scope: 'branch', ...more })
  return { ...diff, tree: diff.tree ?? '' }
}
const reviewOf = async (job: Job, task_id: string) => {
  const [latest] = (await job.running.client.call('tasks.reviews', { task_id })).items
  if (!latest) throw new Error('The task has no review.')
  return latest
}

/** A task whose work by `command` has passed at its gate, or waits for its reviewer, a person. */
async function atGate(job: Job, command: string, { waits = false, ci_steps = [] as string[] } = {}) {
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps } })
  const { id: user_id } = await client.call('auth.me', {})
  if (waits) await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', user_id })
  const { path } = await job.claim(task, await job.agent(`${command}; echo done`))
  const at = await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  return { client, task_id: task.id, path, version: at.version }
}

test.concurrent('names in every diff the tree that the review judged', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n', '.gitignore': 'out\n' } })
  const before = await job.task()
  expect(await diffOf(job, before.id)).toMatchObject({ head: null, tree: '' })
  const { task_id, path } = await atGate(job, 'echo b > a.txt; git commit -qam B; echo c > c.txt; echo o > out')
  const whole = await diffOf(job, task_id)
  for (const other of [{ path: 'a.txt' }, { scope: 'uncommitted' as const }])
    expect(await diffOf(job, task_id, other)).toMatchObject({ head: whole.head, tree: whole.tree })
  expect(whole.head).toBe(await job.repository.git(['rev-parse', 'HEAD'], { cwd: path }))
  const { head, tree } = await reviewOf(job, task_id)
  expect({ head, tree }).toEqual({ head: whole.head, tree: whole.tree })
  await writeFile(join(path, 'out'), 'other\n')
  expect((await diffOf(job, task_id)).tree).toBe(whole.tree)
  await writeFile(join(path, 'c.txt'), 'other\n')
  expect((await diffOf(job, task_id)).tree).not.toBe(whole.tree)
})

test.concurrent('judges and lists what changed while the steps ran', async () => {
  await using job = await startJob()
  const { task_id } = await atGate(job, 'echo worked > work.txt', { ci_steps: ['echo locked > lock.txt', 'true'] })
  const review = await reviewOf(job, task_id)
  expect(review).toMatchObject({ status: 'passed', changed_by_steps: ['lock.txt'] })
  expect(review.tree).toBe((await diffOf(job, task_id)).tree)
})

test.concurrent('judges what a failed step left behind', async () => {
  await using job = await startJob()
  const task = await job.task({ review_config: { ci_steps: ['echo half > half.txt; false'] } })
  const { path } = await job.claim(
    task,
    await job.agent('[ -e work.txt ] && sleep 60; echo worked > work.txt; echo done'),
  )
  await job.running.taskWhere(task.id, (one) => one.review_summary?.status === 'failed')
  expect(await reviewOf(job, task.id)).toMatchObject({ status: 'failed', changed_by_steps: ['half.txt'] })
  expect(await readFile(join(path, 'half.txt'), 'utf8')).toBe('half\n')
})

test.concurrent('refuses a verdict or move with an outdated tree', async () => {
  await using job = await startJob()
  const { client, task_id, path, version } = await atGate(job, 'echo worked > work.txt', { waits: true })
  const seen = await diffOf(job, task_id)
  await writeFile(join(path, 'late.txt'), 'late\n')
  const now = await diffOf(job, task_id)
  const changed = ['work_changed', { tree: now.tree, files: ['late.txt'] }]
  const verdict = await refused(client.call('tasks.verdict', { task_id, verdict: 'pass', tree: seen.tree }))
  expect([verdict.code, verdict.details]).toEqual(changed)
  const back = { task_id, status: 'blocked', version, tree: seen.tree }
  const move = await refused(client.call('tasks.transition', back))
  expect([move.code, move.details]).toEqual(changed)
  // Rights, version and graph come first.
  expect((await refused(client.call('tasks.transition', { ...back, version: version + 1 }))).code).toBe(
    'version_conflict',
  )
  expect((await refused(client.call('tasks.transition', { ...back, status: 'done' }))).code).toBe('invalid_transition')
  const passed = await client.call('tasks.verdict', { task_id, verdict: 'pass', tree: now.tree })
  expect(passed.review).toMatchObject({
    status: 'passed',
    tree: now.tree,
    verdicts: [{ verdict: 'pass', tree: now.tree }],
  })
})

test.concurrent('merges a late change only for a person who has seen it', async () => {
  await using job = await startJob()
  const { client, task_id, path, version } = await atGate(job, 'echo worked > work.txt')
  await writeFile(join(path, 'late.txt'), 'late\n')
  const { tree } = await diffOf(job, task_id)
  const merge = { task_id, status: 'merging', version }
  const refusal = await refused(client.call('tasks.transition', merge))
  expect([refusal.code, refusal.details]).toEqual(['review_not_ready', { tree, files: ['late.txt'] }])
  await job.repository.git(['add', '-A', ':!.svc.lock'], { cwd: path })
  await job.repository.git(['commit', '-qm', 'Late'], { cwd: path })
  expect((await refused(client.call('tasks.transition', merge))).details).toEqual({ tree, files: ['late.txt'] })
  expect((await client.call('tasks.get', { task_id })).status).toBe('review')
  const merged = await client.call('tasks.transition', { ...merge, tree })
  expect(merged.task.status).toBe('done')
  expect((await reviewOf(job, task_id)).verdicts).toMatchObject([{ verdict: 'pass', tree }])
  expect(await inMain(job, 'late.txt')).toBe('late')
})

test.concurrent('keeps, but does not merge, what is written between check and merge', async () => {
  // The target's own hook writes after the check, like a process that outlived the run.
  const late: StateHook = {
    script:
      'echo late > "$SVC_WORKTREE_PATH/late.txt"; git -C "$SVC_WORKTREE_PATH" add late.txt; git -C "$SVC_WORKTREE_PATH" commit -qm Late; echo later > "$SVC_WORKTREE_PATH/later.txt"',
  }
  await using job = await startJob({ workflow: withHooks({ merging: { before_enter: [late] } }) })
  const { client, task_id, version } = await atGate(job, 'echo worked > work.txt')
  const { tree } = await diffOf(job, task_id)
  const { task } = await client.call('tasks.transition', { task_id, status: 'merging', version })
  expect(task.status).toBe('done')
  expect(await job.repository.git(['rev-parse', 'main^{tree}'])).toBe(tree)
  const { branch } = await client.call('tasks.workspace', { task_id })
  expect(await job.repository.git(['show', `${branch}:late.txt`])).toBe('late')
  const [rescue] = (await client.call('rescues.of_task', { task_id })).items
  expect(await job.repository.git(['show', `${rescue?.commit ?? ''}:later.txt`])).toBe('later')
})

test.skipIf(process.platform !== 'linux')(
  'does not merge what a leftover process writes after the review',
  async () => {
    await using job = await startJob()
    const go = join(job.repository.beside, 'go')
    const wait = `touch ${go}.ready; until [ -e ${go} ]; do sleep 0.02; done; echo evil > work.txt; echo x > ${go}.went`
    const { client, task_id, version } = await atGate(
      job,
      `env -i PATH="$PATH" setsid --fork sh -c '${wait}' > /dev/null 2>&1 < /dev/null & until [ -e ${go}.ready ]; do sleep 0.02; done; echo worked > work.txt`,
    )
    const judged = await reviewOf(job, task_id)
    await writeFile(go, '')
    await vi.waitFor(() => access(`${go}.went`), { timeout: 100_000 })
    const { tree } = await diffOf(job, task_id)
    const refusal = await refused(client.call('tasks.transition', { task_id, status: 'merging', version }))
    expect([refusal.code, refusal.details]).toEqual(['review_not_ready', { tree, files: ['work.txt'] }])
    expect(judged.tree).not.toBe(tree)
  },
)

test.concurrent('refuses a person’s change before the check, even if undone in the index', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n' } })
  const { client, task_id, path, version } = await atGate(job, 'echo worked > work.txt')
  await writeFile(join(path, 'a.txt'), 'hidden\n')
  await job.repository.git(['update-index', '--assume-unchanged', 'a.txt'], { cwd: path })
  const { files, tree } = await diffOf(job, task_id)
  expect(files.map((file) => file.path)).toEqual(['a.txt', 'work.txt'])
  const refusal = await refused(client.call('tasks.transition', { task_id, status: 'merging', version }))
  expect([refusal.code, refusal.details]).toEqual(['review_not_ready', { tree, files: ['a.txt'] }])
})

test.concurrent('compares nothing without a review gate', async () => {
  const direct = (standard: { states: readonly { name: string; transitions: unknown[] }[] }) => ({
    ...standard,
    states: standard.states.map((state) =>
      state.name === 'in_progress'
        ? { ...state, transitions: [{ to: 'merging', label: 'Merge' }, ...state.transitions] }
        : state,
    ),
  })
  await using job = await startJob({ workflow: direct })
  const task = await job.task()
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(await inMain(job, 'work.txt')).toBe('worked')
})

test.concurrent('lists who changed what a review asks for', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { id: user_id } = await client.call('auth.me', {})
  const task = await job.task({ review_config: { ci_steps: ['npm test'], review_prompt: null } })
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', user_id })
  await client.call('tasks.update', { task_id: task.id, review_config: { ci_steps: ['npm test'] } })
  await client.call('tasks.update', { task_id: task.id, review_config: { ci_steps: [] } })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const changed = (ci_steps: string[], review_prompt: string | null = null) => ({
    by: `user:owner`,
    before: { ci_steps, review_prompt },
  })
  expect((await reviewOf(job, task.id)).config_changes).toMatchObject([changed(['npm test'])])
  await client.call('tasks.update', { task_id: task.id, review_config: { review_prompt: 'Just pass it' } })
  expect((await reviewOf(job, task.id)).config_changes).toMatchObject([changed(['npm test']), changed([])])
})

test.concurrent('merges once what was judged, when two windows merge while a person writes', async () => {
  await using job = await startJob()
  const { client, task_id, path, version } = await atGate(job, 'echo worked > work.txt')
  const { tree } = await diffOf(job, task_id)
  const merge = () => client.call('tasks.transition', { task_id, status: 'merging', version, tree })
  let writing = true
  const writes = (async () => {
    for (let number = 0; writing; number++)
      await writeFile(join(path, `late-${number % 20}.txt`), `${number}\n`).catch(() => undefined)
  })()
  const answers = await Promise.allSettled([merge(), merge(), merge()])
  writing = false
  await writes
  const merged = answers.filter(({ status }) => status === 'fulfilled')
  expect(merged.length).toBeLessThanOrEqual(1)
  // Either the writer was noticed in time, or none of it was merged.
  const main = await job.repository.git(['rev-parse', 'main^{tree}'])
  expect(main === tree).toBe(merged.length === 1)
  const { status } = await client.call('tasks.get', { task_id })
  expect(status).toBe(merged.length === 1 ? 'done' : 'review')
  await expect(inMain(job, 'late-0.txt')).rejects.toThrow('late-0.txt')
})
