import { expect, test } from 'vitest'
import { neverAborted, refusedByForge } from '../../../helpers/forge-job.ts'
import { path, startGitlabJob } from '../../../helpers/gitlab-job.ts'

async function startWithPull() {
  const at = await startGitlabJob()
  const pull = await at.open()
  const read = at.read
  await read()
  return {
    ...at,
    head: pull.head.commit,
    checks: async () => at.forges.checks(at.source, await read(), neverAborted),
    pipeline: async (sha?: string) => at.people.pipeline(path, 1, sha),
  }
}

test('takes the jobs of the pipeline and what others report for checks', async () => {
  await using at = await startWithPull()
  expect(await at.checks()).toEqual({ seen: 'all', checks: [] })
  const pipeline = await at.pipeline()
  at.wait(10_000)
  const job = await at.people.job(path, pipeline, 'build', 'failed')
  await at.people.job(path, pipeline, 'lint', 'failed', { allowFailure: true })
  await at.people.job(path, pipeline, 'deploy', 'manual', { allowFailure: true })
  at.people.status(path, at.head, 'coverage', 'success')
  expect(await at.checks()).toEqual({
    seen: 'all',
    checks: [
      {
        name: 'build',
        state: 'failed',
        required: null,
        url: `${at.server.url}/${path}/-/jobs/${job.id}`,
        job: `${at.project.id} ${job.id}`,
      },
      expect.objectContaining({ name: 'lint', state: 'failed', required: false }),
      expect.objectContaining({ name: 'deploy', state: 'skipped', required: false }),
      { name: 'coverage', state: 'passed', required: null, url: 'https://ci.example/1', job: null },
    ],
  })
})

test('reads every state of a job', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline()
  const states = [
    'created',
    'waiting_for_resource',
    'pending',
    'scheduled',
    'running',
    'success',
    'skipped',
    'canceled',
  ]
  for (const state of states) await at.people.job(path, pipeline, state, state)
  await at.people.job(path, pipeline, 'blocked', 'manual')
  const { checks } = await at.checks()
  expect(checks.map(({ state }) => state)).toEqual([
    'queued',
    'queued',
    'queued',
    'queued',
    'running',
    'passed',
    'skipped',
    'cancelled',
    'queued',
  ])
})

test('marks the jobs that a merge requires, and waits for a pipeline that never came', async () => {
  await using at = await startWithPull()
  at.project.mustSucceed = true
  at.wait(600_000)
  expect((await at.checks()).checks).toEqual([
    { name: 'Pipeline', state: 'queued', required: true, url: null, job: null },
  ])
  const pipeline = await at.pipeline()
  await at.people.job(path, pipeline, 'build', 'running')
  await at.people.job(path, pipeline, 'lint', 'failed', { allowFailure: true })
  at.wait(10_000)
  expect((await at.checks()).checks).toMatchObject([
    { name: 'build', required: true },
    { name: 'lint', required: false },
  ])
})

test('prefers the jobs of the pipeline that counts', async () => {
  await using at = await startWithPull()
  at.project.mustSucceed = true
  at.wait(600_000)
  const branch = await at.pipeline()
  await at.people.job(path, branch, 'build', 'failed')
  await at.people.job(path, branch, 'only on branches', 'failed')
  const own = await at.pipeline()
  await at.people.job(path, own, 'build', 'success')
  expect((await at.checks()).checks).toMatchObject([
    { name: 'only on branches', state: 'failed', required: false },
    { name: 'build', state: 'passed', required: true },
  ])
})

test('reads the jobs of a pipeline that tests the merge, which is another commit', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline('c'.repeat(40))
  await at.people.job(path, pipeline, 'build', 'failed')
  at.wait(10_000)
  expect((await at.checks()).checks).toMatchObject([{ name: 'build', state: 'failed' }])
})

test('reads the pipeline of a fork there', async () => {
  await using at = await startGitlabJob()
  at.server.project('robot/hello', at.project)
  at.server.git.commit('robot/hello', 'feature')
  const pull = await at.open({ head: { repository: 'robot/hello', branch: 'feature' } })
  const pipeline = await at.people.pipeline(path, 1)
  const job = await at.people.job(path, pipeline, 'build', 'failed', { log: 'It broke.\n' })
  const { checks } = await at.forges.checks(at.source, pull, neverAborted)
  expect(checks).toMatchObject([{ name: 'build', job: `${pipeline.project} ${job.id}` }])
  expect(await at.forges.log(at.source, checks[0]?.job ?? '', neverAborted)).toBe('It broke.\n')
})

test('keeps the pipeline where its jobs are refused to the token', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline()
  await at.people.job(path, pipeline, 'build', 'failed')
  at.wait(10_000)
  at.server.instead = ({ path: asked }) =>
    asked.endsWith('/statuses') ? { status: 403, body: { message: '403 Forbidden' } } : null
  expect(await at.checks()).toEqual({
    seen: 'some',
    checks: [{ name: 'Pipeline', state: 'failed', required: null, url: null, job: null }],
  })
  at.project.members.set('robot', 10)
  at.wait(10_000)
  expect(await at.checks()).toEqual({ seen: 'none', checks: [] })
})

test('reads the checks of any commit, from all pages', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline()
  for (let number = 0; number < 130; number++) await at.people.job(path, pipeline, `job ${number}`, 'success')
  const checks = await at.forges.checksOf(at.source, at.head, neverAborted)
  expect(checks).toHaveLength(130)
  expect(checks.every(({ required }) => required === null)).toBe(true)
  expect(await at.forges.checksOf(at.source, 'feature', neverAborted)).toEqual(checks)
})

test('returns the end of a job’s log, without colors, folds and times, and nothing where there is none', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline()
  const log = [
    'section_start:1700000000:step_script\r\u001b[0K\u001b[0;m\u001b[36;1mExecuting "step_script"\u001b[0;m',
    '2026-01-01T10:00:00.123456Z \u001b[32;1m$ npm test\u001b[0;m',
    'progress 1%\rprogress 100%',
    'section_end:1700000009:step_script\r\u001b[0K\u001b[31;1mERROR: Job failed: exit code 1',
    '\u001b[0;m',
  ].join('\n')
  const job = await at.people.job(path, pipeline, 'build', 'failed', { log })
  const read = async () => at.forges.log(at.source, `${at.project.id} ${job.id}`, neverAborted)
  expect(await read()).toBe('Executing "step_script"\n$ npm test\nprogress 100%\nERROR: Job failed: exit code 1\n')
  job.log = null
  expect(await read()).toBeNull()
  expect(await at.forges.log(at.source, `${at.project.id} 999999`, neverAborted)).toBeNull()
})

test('runs a job again, and says why GitLab does not', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline()
  const job = await at.people.job(path, pipeline, 'build', 'failed')
  at.wait(10_000)
  const rerun = async () => at.forges.rerun(at.source, `${at.project.id} ${job.id}`, neverAborted)
  await rerun()
  const { checks } = await at.checks()
  expect(checks).toMatchObject([{ name: 'build', state: 'queued' }])
  expect(checks[0]?.job).not.toBe(`${at.project.id} ${job.id}`)
  expect((await refusedByForge(rerun())).message).toContain('Job is not retryable')
})

test('merges a head by the method, and answers the commit on the target', async () => {
  await using at = await startWithPull()
  at.project.squashOption = 'default_on'
  at.people.mergeRequest(path, 1).squash = true
  const merge = { method: 'merge', head: at.head } as const
  const commit = await at.forges.merge(at.source, 1, merge, neverAborted)
  expect(commit).toBe(await at.server.git.head(path, 'main'))
  expect(at.people.mergeRequest(path, 1)).toMatchObject({ state: 'merged', squashCommit: null })
  // Asked again, as after a lost answer.
  expect(await at.forges.merge(at.source, 1, merge, neverAborted)).toBe(commit)
})

test('squashes', async () => {
  await using at = await startWithPull()
  await at.forges.merge(at.source, 1, { method: 'squash', head: at.head }, neverAborted)
  expect(at.people.mergeRequest(path, 1).squashCommit).not.toBeNull()
})

test('merges by fast-forward', async () => {
  await using at = await startWithPull()
  at.project.mergeMethod = 'ff'
  expect(await at.forges.merge(at.source, 1, { method: 'rebase', head: at.head }, neverAborted)).toBe(at.head)
})

test('says why GitLab does not merge', async () => {
  await using at = await startWithPull()
  const expectRefusal = async (text: RegExp, head = at.head) => {
    const error = await refusedByForge(at.forges.merge(at.source, 1, { method: 'merge', head }, neverAborted))
    expect(error.code).toBe('not_mergeable')
    expect(error.message).toMatch(text)
  }
  const pull = at.people.mergeRequest(path, 1)
  await expectRefusal(/new commits/, '0'.repeat(40))
  pull.title = 'Draft: Say hello'
  await expectRefusal(/draft/)
  pull.title = 'Say hello'
  at.project.mustSucceed = true
  await expectRefusal(/pipeline must succeed/)
  await at.people.job(path, await at.pipeline(), 'build', 'running')
  await expectRefusal(/still running/)
  at.project.mustSucceed = false
  at.project.mustResolve = true
  await at.people.thread(path, 1, 'anna', 'Why?')
  await expectRefusal(/threads must be resolved/)
  at.project.mustResolve = false
  at.project.approvalsRequired = 1
  await expectRefusal(/approval/)
  at.project.approvalsRequired = 0
  at.people.review(path, 1, 'anna', 'requested_changes')
  await expectRefusal(/requested changes/)
  pull.reviewers.clear()
  at.project.members.set('robot', 20)
  await expectRefusal(/account can't merge/)
  at.project.members.set('robot', 30)
  pull.status = 'cannot_be_merged'
  await expectRefusal(/conflicts/)
  at.people.close(path, 1)
  await expectRefusal(/closed/)
})

test('tells an expired token from an account that may not merge: both are 401', async () => {
  await using at = await startWithPull()
  at.server.state.tokens.set(at.server.token, { username: 'robot', scopes: ['api'], expires_at: null, isExpired: true })
  const merge = at.forges.merge(at.source, 1, { method: 'merge', head: at.head }, neverAborted)
  expect((await refusedByForge(merge)).code).toBe('unauthorized')
})

test('leaves the merge to GitLab, which a push calls off', async () => {
  await using at = await startWithPull()
  const pipeline = await at.pipeline()
  await at.people.job(path, pipeline, 'build', 'running')
  const whenReady = async (head = at.head) =>
    at.forges.mergeWhenReady(at.source, 1, { method: 'merge', head }, neverAborted)
  expect((await refusedByForge(whenReady('0'.repeat(40)))).code).toBe('not_mergeable')
  expect(await whenReady()).toBe('auto_merge')
  expect(await at.read()).toMatchObject({ auto_merge: true, queued: false })
  const pushed = at.server.git.commit(path, 'feature')
  expect(await at.read()).toMatchObject({ auto_merge: false })
  const next = await at.pipeline()
  await at.people.job(path, next, 'build', 'running')
  expect(await whenReady(pushed)).toBe('auto_merge')
  await at.people.job(path, next, 'build', 'success')
  expect(await at.read()).toMatchObject({ state: 'merged', auto_merge: false })
})

test('waits by auto-merge for an approval, without a pipeline', async () => {
  await using at = await startWithPull()
  at.project.approvalsRequired = 1
  const merge = { method: 'merge', head: at.head } as const
  expect(await at.forges.mergeWhenReady(at.source, 1, merge, neverAborted)).toBe('auto_merge')
  expect((await at.read()).auto_merge).toBe(true)
})

test('does not merge what has no pipeline by asking to wait for one', async () => {
  await using at = await startWithPull()
  const merge = { method: 'merge', head: at.head } as const
  expect((await refusedByForge(at.forges.mergeWhenReady(at.source, 1, merge, neverAborted))).code).toBe('not_supported')
  expect((await at.read()).state).toBe('open')
})

test('queues on the merge train where the project has them, and knows when it is off it', async () => {
  await using at = await startWithPull()
  at.project.trains = true
  at.wait(600_000)
  await at.people.job(path, await at.pipeline(), 'build', 'success')
  const merge = { method: 'squash', head: at.head } as const
  const whenReady = async () => at.forges.mergeWhenReady(at.source, 1, merge, neverAborted)
  expect(await whenReady()).toBe('queued')
  expect(await at.read()).toMatchObject({ queued: true, auto_merge: false })
  at.people.mergeRequest(path, 1).car = null
  at.people.mergeRequest(path, 1).autoMerge = false
  expect(await at.read()).toMatchObject({ queued: false, auto_merge: false })
  expect(await whenReady()).toBe('queued')
  await at.people.runTrain(path)
  expect(await at.read()).toMatchObject({ state: 'merged', queued: false })
})

test('takes auto-merge where the train does not take it', async () => {
  await using at = await startGitlabJob()
  at.project.trains = true
  at.server.project('robot/hello', at.project)
  at.server.git.commit('robot/hello', 'feature')
  const pull = await at.open({ head: { repository: 'robot/hello', branch: 'feature' } })
  await at.people.job(path, await at.people.pipeline(path, 1), 'build', 'running')
  const merge = { method: 'merge', head: pull.head.commit } as const
  expect(await at.forges.mergeWhenReady(at.source, 1, merge, neverAborted)).toBe('auto_merge')
})
