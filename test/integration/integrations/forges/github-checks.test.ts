import { expect, test } from 'vitest'
import type { ForgeCheck } from '../../../../src-main/ports/forges.ts'
import { errorOf, fineGrained, secret, startGithubForge, type GithubForge } from '../../../helpers/github-forge.ts'

const jenkins = { id: 77, slug: 'jenkins' }

const shown = (checks: readonly ForgeCheck[]) =>
  Object.fromEntries(checks.map(({ name, state, required }) => [name, `${state} ${required}`]))

/** A pull request whose push started a workflow, with checks of all kinds. */
async function startChecked(setup: Parameters<typeof startGithubForge>[0] = {}) {
  const at = await startGithubForge(setup)
  const { pull, there } = await at.open()
  const { people } = at.github
  const [build, test18] = people.startWorkflow(at.repository, pull.head.commit, ['build', 'test (18, ubuntu-latest)'])
  if (!build || !test18) throw new Error('The workflow has no jobs.')
  const other = people.reportCheck(at.repository, pull.head.commit, 'jenkins/pr', jenkins)
  await people.reportStatus(at.repository, pull.head.commit, 'ci/circle', 'pending')
  const checks = () => at.forges.checks(at.source, pull, at.options)
  return Object.assign(at, { pull, there, build, test18, other, checks })
}

const pathsOf = ({ github }: GithubForge, from: number) =>
  github.requests.slice(from).map(({ path }) => path.replace('/repos/octo/hello', ''))

test('reads check runs and statuses, and which of them the target requires', async () => {
  await using at = await startChecked()
  at.github.protect(at.repository, 'main', {
    classic: [{ context: 'build', app_id: 15_368 }],
    rules: [
      { type: 'deletion' },
      {
        type: 'required_status_checks',
        parameters: { required_status_checks: [{ context: 'ci/circle' }, { context: 'never started' }] },
      },
    ],
  })
  const { seen, checks } = await at.checks()
  expect(seen).toBe('all')
  expect(shown(checks)).toEqual({
    build: 'queued true',
    'test (18, ubuntu-latest)': 'queued false',
    'jenkins/pr': 'queued false',
    'ci/circle': 'running true',
    'never started': 'queued true',
  })
  const [build] = checks.filter(({ name }) => name === 'build')
  expect(build).toMatchObject({ job: String(at.build.id), url: at.build.details_url })
  expect(checks.find(({ name }) => name === 'jenkins/pr')).toMatchObject({
    job: null,
    url: 'https://ci.example.com/jenkins/pr',
  })
  expect(checks.find(({ name }) => name === 'ci/circle')).toMatchObject({
    job: null,
    url: 'https://ci.example.com/ci/circle',
  })
})

test('asks for the rules of a branch whose name has slashes', async () => {
  await using at = await startChecked()
  at.github.git.commit('octo/hello', 'release/1.0', 'main')
  at.github.people.retarget(at.there, 'release/1.0')
  at.github.protect(at.repository, 'release/1.0', { classic: [{ context: 'build', app_id: null }] })
  const { checks } = await at.forges.checks(at.source, { ...at.pull, target: 'release/1.0' }, at.options)
  expect(shown(checks)).toMatchObject({ build: 'queued true', 'jenkins/pr': 'queued false' })
})

test('says of no check that it is required where the target requires none', async () => {
  await using at = await startChecked()
  expect(shown((await at.checks()).checks)).toMatchObject({ build: 'queued null', 'ci/circle': 'running null' })
})

test.each([
  ['queued', null, 'queued'],
  ['waiting', null, 'queued'],
  ['in_progress', null, 'running'],
  ['completed', 'success', 'passed'],
  ['completed', 'neutral', 'passed'],
  ['completed', 'skipped', 'skipped'],
  ['completed', 'failure', 'failed'],
  ['completed', 'timed_out', 'failed'],
  ['completed', 'action_required', 'failed'],
  ['completed', 'cancelled', 'cancelled'],
  ['completed', 'stale', 'cancelled'],
] as const)('reads a check that is %s, %s as %s', async (status, conclusion, state) => {
  await using at = await startChecked()
  if (conclusion) await at.github.people.finish(at.build, conclusion)
  else at.github.people.setStatus(at.build, status)
  expect((await at.checks()).checks.find(({ name }) => name === 'build')?.state).toBe(state)
})

test.each([
  ['error', 'failed'],
  ['failure', 'failed'],
  ['success', 'passed'],
] as const)('reads a status that is %s as %s', async (given, state) => {
  await using at = await startChecked()
  await at.github.people.reportStatus(at.repository, at.pull.head.commit, 'ci/circle', given, null)
  expect((await at.checks()).checks.find(({ name }) => name === 'ci/circle')).toMatchObject({ state, url: null })
})

test('counts the newest of several check runs of one name and app', async () => {
  await using at = await startChecked()
  const { people } = at.github
  await people.finish(at.build, 'failure')
  const [again] = people.startWorkflow(at.repository, at.pull.head.commit, ['build'], { event: 'pull_request' })
  if (!again) throw new Error('It has no job.')
  await people.finish(again, 'success')
  people.reportCheck(at.repository, at.pull.head.commit, 'build', jenkins)
  const builds = (await at.checks()).checks.filter(({ name }) => name === 'build')
  expect(builds.map(({ state, job }) => [state, job])).toEqual([
    ['queued', null],
    ['passed', String(again.id)],
  ])
})

test('does not take another app’s check for the required one', async () => {
  await using at = await startChecked()
  at.github.people.reportCheck(at.repository, at.pull.head.commit, 'lint', jenkins)
  at.github.protect(at.repository, 'main', {
    rules: [
      {
        type: 'required_status_checks',
        parameters: { required_status_checks: [{ context: 'lint', integration_id: 15_368 }] },
      },
    ],
  })
  const lints = (await at.checks()).checks.filter(({ name }) => name === 'lint')
  expect(lints.map(({ state, required, url }) => [state, required, url === null])).toEqual([
    ['queued', false, false],
    ['queued', true, true],
  ])
})

test('does not know what is required where a workflow is, or where the rules are refused', async () => {
  await using at = await startChecked()
  at.github.protect(at.repository, 'main', {
    classic: [{ context: 'build', app_id: null }],
    rules: [{ type: 'workflows' }],
  })
  expect(shown((await at.checks()).checks)).toMatchObject({ build: 'queued true', 'jenkins/pr': 'queued null' })
  at.later(601_000)
  at.github.protect(at.repository, 'main', { classic: [{ context: 'build', app_id: null }] })
  at.github.fail(/rules\/branches/, { status: 404, body: { message: 'Not Found' } })
  expect(shown((await at.checks()).checks)).toMatchObject({ build: 'queued true', 'jenkins/pr': 'queued null' })
  expect(at.github.requests.some(({ path }) => path.endsWith('/protection'))).toBe(false)
})

test('reads more than a page of checks', async () => {
  await using at = await startGithubForge()
  const { pull } = await at.open()
  at.github.people.startWorkflow(
    at.repository,
    pull.head.commit,
    Array.from({ length: 230 }, (_, n) => `job ${n}`),
  )
  expect((await at.forges.checks(at.source, pull, at.options)).checks.length).toBe(230)
})

test('finds jobs and statuses where a fine-grained token may not read check runs', async () => {
  await using at = await startChecked({ token: fineGrained })
  await at.github.people.finish(at.build, 'failure', '2026-01-01T00:00:00.0000000Z boom\n')
  at.github.protect(at.repository, 'main', { classic: [{ context: 'build', app_id: 15_368 }] })
  const { seen, checks } = await at.checks()
  expect(seen).toBe('some')
  expect(shown(checks)).toEqual({
    build: 'failed true',
    'test (18, ubuntu-latest)': 'queued false',
    'ci/circle': 'running false',
  })
  expect(checks[0]).toMatchObject({ job: String(at.build.id), url: at.build.details_url })
  expect(await at.forges.log(at.source, String(at.build.id), at.options)).toBe('boom\n')
})

test('asks for what was refused again only after an hour, and for a finished run’s jobs once', async () => {
  await using at = await startChecked({ token: fineGrained })
  await at.github.people.finish(at.build, 'success')
  await at.github.people.finish(at.test18, 'success')
  await at.checks()
  const from = at.github.requests.length
  await at.checks()
  const commit = at.pull.head.commit
  expect(pathsOf(at, from)).toEqual(['/actions/runs', `/commits/${commit}/status`])
  at.later(3_601_000)
  await at.checks()
  expect(pathsOf(at, from)).toContain(`/commits/${commit}/check-runs`)
})

test('shows a workflow that failed before it had a job, and none that waits for a person', async () => {
  await using at = await startGithubForge({ token: fineGrained })
  const { pull } = await at.open()
  at.github.people.failWorkflow(at.repository, pull.head.commit, 'Broken', 'startup_failure')
  at.github.people.failWorkflow(at.repository, pull.head.commit, 'Asks', 'action_required')
  const { checks } = await at.forges.checks(at.source, pull, at.options)
  expect(checks).toMatchObject([{ name: 'Broken', state: 'failed', job: null }])
})

test('keeps the checks that are read where others are refused', async () => {
  await using at = await startChecked({
    token: { ...fineGrained, permissions: { metadata: 'read', pull_requests: 'write', statuses: 'read' } },
  })
  expect(await at.checks()).toMatchObject({ seen: 'some', checks: [{ name: 'ci/circle' }] })
  at.token.permissions = { metadata: 'read', pull_requests: 'write' }
  expect(await at.checks()).toEqual({ seen: 'none', checks: [] })
})

test('reads the checks of any commit', async () => {
  await using at = await startGithubForge()
  const commit = at.github.git.commit('octo/hello', 'main')
  const [red] = at.github.people.startWorkflow(at.repository, commit, ['build'])
  if (!red) throw new Error('It has no job.')
  await at.github.people.finish(red, 'failure')
  expect(await at.forges.checksOf(at.source, commit, at.options)).toMatchObject([
    { name: 'build', state: 'failed', required: null },
  ])
})

test('reads the end of a log at another host, without the token, the times and the colors', async () => {
  await using at = await startChecked()
  const lines = Array.from({ length: 20_000 }, (_, n) => `2026-01-01T00:00:00.1234567Z \u001b[31mline ${n}\u001b[0m`)
  await at.github.people.finish(at.build, 'failure', `\uFEFF${lines.join('\n')}\n${secret}\n`)
  const log = await at.forges.log(at.source, String(at.build.id), at.options)
  expect(log).toMatch(/^line \d+\nline \d+\n/)
  expect(log).toMatch(/line 19999\n\[redacted\]\n$/)
  expect(Buffer.byteLength(log ?? '')).toBeLessThanOrEqual(65_536)
  expect(at.github.logs.requests.map(({ headers }) => headers['authorization'])).toEqual([undefined])
})

test('has no log of a job that runs or whose log is gone', async () => {
  await using at = await startChecked()
  const log = () => at.forges.log(at.source, String(at.build.id), at.options)
  expect(await log()).toBeNull()
  await at.github.people.finish(at.build, 'failure', 'old')
  expect(await log()).toBe('old')
  at.build.logExpired = true
  expect(await log()).toBeNull()
  at.build.logExpired = false
  at.github.world.blobs = 'http://logs.invalid'
  expect(await log()).toBeNull()
})

test('says which right is missing for logs', async () => {
  await using at = await startChecked({
    token: { ...fineGrained, permissions: { metadata: 'read', pull_requests: 'write' } },
  })
  const refused = await errorOf(at.forges.log(at.source, String(at.build.id), at.options))
  expect(refused).toMatchObject({ code: 'forbidden', right: 'Actions: read' })
  expect(refused.url).toBe(`${at.github.world.web}/settings/personal-access-tokens`)
})

test('runs a job again, but not while its workflow runs', async () => {
  await using at = await startChecked()
  await at.github.people.finish(at.build, 'failure')
  const early = await errorOf(at.forges.rerun(at.source, String(at.build.id), at.options))
  expect(early).toMatchObject({ code: 'refused' })
  expect(early.message).toContain('already running')
  await at.github.people.finish(at.test18, 'success')
  await at.forges.rerun(at.source, String(at.build.id), at.options)
  const [build] = (await at.checks()).checks.filter(({ name }) => name === 'build')
  expect(build?.state).toBe('queued')
  expect(build?.job).not.toBe(String(at.build.id))
})
