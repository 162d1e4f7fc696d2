import { expect, test } from 'vitest'
import { neverAborted, refusedByForge, startGiteaJob } from '../../../helpers/forge-job.ts'

const name = 'team/hello'

async function startWithPull(version?: string) {
  const at = await startGiteaJob(version === undefined ? {} : { version })
  const pull = await at.open()
  const head = pull.head.commit
  return {
    ...at,
    head,
    checks: async () => at.forges.checks(at.source, pull, neverAborted),
    protect: (contexts: readonly string[] | null, approvals = 0) =>
      void at.server.repository(name).protections.set('main', { contexts, approvals }),
  }
}

test('takes the newest status of each context, from all pages', async () => {
  await using at = await startWithPull()
  for (let number = 0; number < 60; number++) await at.people.status(name, at.head, `check ${number}`, 'pending')
  for (let number = 0; number < 60; number++) await at.people.status(name, at.head, `check ${number}`, 'success')
  await at.people.status(name, at.head, 'check 7', 'failure', { target_url: 'https://ci.example/7' })
  const { seen, checks } = await at.checks()
  expect(seen).toBe('all')
  expect(checks).toHaveLength(60)
  expect(checks.filter(({ state }) => state !== 'passed')).toEqual([
    { name: 'check 7', state: 'failed', required: null, url: 'https://ci.example/7', job: null },
  ])
})

test('has no checks where there are none', async () => {
  await using at = await startWithPull()
  expect(await at.checks()).toEqual({ seen: 'all', checks: [] })
  expect(await at.forges.checksOf(at.source, at.head, neverAborted)).toEqual([])
})

test('reads the checks of a branch, under the names that they have in pull requests too', async () => {
  await using at = await startWithPull()
  const tip = at.server.git.commit(name, 'release/1.0', 'main')
  await at.people.status(name, tip, 'ci / build (push)', 'failure')
  await at.people.status(name, tip, 'lint', 'success')
  const checks = await at.forges.checksOf(at.source, 'release/1.0', neverAborted)
  expect(checks.map((check) => [check.name, check.state])).toEqual([
    ['ci / build (push)', 'failed'],
    ['lint', 'passed'],
    ['ci / build (pull_request)', 'failed'],
  ])
})

test('tells jobs of Actions that wait, run, were skipped or cancelled apart', async () => {
  await using at = await startWithPull()
  const report = async (job: string, status: 'pending' | 'success' | 'failure', description: string) =>
    at.people.job(name, at.head, job, { status, description })
  await report('a', 'pending', 'Waiting to run')
  await report('b', 'pending', 'Blocked by required conditions')
  await report('c', 'pending', 'Has started running')
  await report('d', 'success', 'Successful in 3s')
  await report('e', 'success', 'Has been skipped')
  await report('f', 'failure', 'Has been cancelled')
  await report('g', 'failure', 'Failing after 5s')
  await at.people.status(name, at.head, 'other', 'pending', { description: 'Waiting to run' })
  await at.people.status(name, at.head, 'warns', 'warning')
  await at.people.status(name, at.head, 'broken', 'error')
  const { checks } = await at.checks()
  expect(checks.map(({ state }) => state)).toEqual([
    'queued',
    'queued',
    'running',
    'passed',
    'skipped',
    'cancelled',
    'failed',
    'running',
    'passed',
    'failed',
  ])
  expect(checks[0]?.url).toMatch(`${at.server.url}/${name}/actions/runs/`)
})

test('marks what the target requires, by patterns, and waits for what was never reported', async () => {
  await using at = await startWithPull()
  await at.people.status(name, at.head, 'ci / build (pull_request)', 'success')
  await at.people.status(name, at.head, 'lint', 'failure')
  expect((await at.checks()).checks.map(({ required }) => required)).toEqual([null, null])
  at.protect(['ci / *', 'deploy {docs,site}', 'security?'])
  expect((await at.checks()).checks).toMatchObject([
    { name: 'ci / build (pull_request)', required: true, state: 'passed' },
    { name: 'lint', required: false, state: 'failed' },
    { name: 'deploy {docs,site}', required: true, state: 'queued' },
    { name: 'security?', required: true, state: 'queued' },
  ])
  await at.people.status(name, at.head, 'deploy site', 'success')
  expect((await at.checks()).checks.map((check) => check.name)).toContain('security?')
  at.protect([])
  expect((await at.checks()).checks.map(({ required }) => required)).toEqual([true, true, true])
  at.protect(null)
  expect((await at.checks()).checks.map(({ required }) => required)).toEqual([null, null, null])
})

test('reads the protection of a branch with a slash', async () => {
  await using at = await startWithPull()
  at.server.git.commit(name, 'release/1.0 #2', 'main')
  at.server.repository(name).protections.set('release/1.0 #2', { contexts: ['lint'], approvals: 0 })
  const pull = await at.forges.change(at.source, 1, { target: 'release/1.0 #2' }, neverAborted)
  expect((await at.forges.checks(at.source, pull, neverAborted)).checks).toMatchObject([{ name: 'lint' }])
})

test('keeps the checks where the protection is refused to the token', async () => {
  await using at = await startWithPull()
  await at.people.status(name, at.head, 'lint', 'failure')
  at.server.instead = ({ path }) => (path.includes('/branches/') ? { status: 403, body: { message: 'no' } } : null)
  expect((await at.checks()).checks).toMatchObject([{ name: 'lint', state: 'failed', required: null }])
})

test('returns the end of a job’s log, without times and colors', async () => {
  await using at = await startWithPull()
  const line = (text: string) => `2026-01-01T10:00:00.1234567Z ${text}\r\n`
  const filler = Array.from({ length: 4_000 }, (_, number) => line(`line ${number} of a long log`)).join('')
  const log = `${filler}${line('\u001b[31merror\u001b[0m: it broke')}`
  await at.people.job(name, at.head, 'build', { status: 'failure', description: 'Failing after 5s', log })
  const [check] = (await at.checks()).checks
  const tail = await at.forges.log(at.source, check?.job ?? '', neverAborted)
  expect(tail).toMatch(/^line \d+ of a long log\n/)
  expect(tail?.endsWith('line 3999 of a long log\nerror: it broke\n')).toBe(true)
  expect(Buffer.byteLength(tail ?? '')).toBeLessThanOrEqual(65_536)
})

test('has no log where the forge has none any more', async () => {
  await using at = await startWithPull()
  await at.people.job(name, at.head, 'build', { status: 'failure', description: 'Failing after 5s' })
  const [check] = (await at.checks()).checks
  expect(await at.forges.log(at.source, check?.job ?? '', neverAborted)).toBeNull()
  at.server.repository(name).jobs.length = 0
  expect(await at.forges.log(at.source, check?.job ?? '', neverAborted)).toBeNull()
  expect((await refusedByForge(at.forges.rerun(at.source, check?.job ?? '', neverAborted))).code).toBe('not_found')
})

test('runs a job again', async () => {
  await using at = await startWithPull()
  const job = await at.people.job(name, at.head, 'build', { status: 'failure', description: 'Failing after 5s' })
  const [check] = (await at.checks()).checks
  await at.forges.rerun(at.source, check?.job ?? '', neverAborted)
  expect(job.attempts).toBe(2)
})

test.each(['1.24.6', '13.0.2+gitea-1.22.0'])('names no job where version %s has no API for it', async (version) => {
  await using at = await startWithPull(version)
  await at.people.job(name, at.head, 'build', { status: 'failure', description: 'Failing after 5s' })
  expect((await at.checks()).checks).toMatchObject([{ state: 'failed', job: null }])
})

test('says that version 1.25 runs no job again', async () => {
  await using at = await startWithPull('1.25.3')
  await at.people.job(name, at.head, 'build', { status: 'failure', description: 'Failing after 5s' })
  const [check] = (await at.checks()).checks
  expect((await refusedByForge(at.forges.rerun(at.source, check?.job ?? '', neverAborted))).code).toBe('not_supported')
})

test('merges a head by the method, and answers the commit on the target', async () => {
  await using at = await startWithPull()
  await at.read()
  const merge = { method: 'squash', head: at.head } as const
  const commit = await at.forges.merge(at.source, 1, merge, neverAborted)
  expect(commit).toBe(await at.server.git.head(name, 'main'))
  expect(await at.read()).toMatchObject({ state: 'merged', merge_commit: commit })
  // Asked again, as after a lost answer.
  expect(await at.forges.merge(at.source, 1, merge, neverAborted)).toBe(commit)
})

test('uses the way of rebasing that the repository has', async () => {
  await using at = await startWithPull()
  at.server.repository(name).methods = {
    merge: false,
    squash: false,
    rebase: false,
    rebaseMerge: false,
    fastForward: true,
  }
  await at.read()
  expect(await at.forges.merge(at.source, 1, { method: 'rebase', head: at.head }, neverAborted)).not.toBeNull()
})

test('says why the forge does not merge', async () => {
  await using at = await startWithPull()
  const repository = at.server.repository(name)
  const refusal = async (head = at.head, method: 'merge' | 'squash' = 'merge') =>
    refusedByForge(at.forges.merge(at.source, 1, { method, head }, neverAborted))
  const expectRefusal = async (text: RegExp, head?: string) => {
    const error = await refusal(head)
    expect(error.code).toBe('not_mergeable')
    expect(error.message).toMatch(text)
  }
  await expectRefusal(/tests for conflicts/)
  await at.read()
  await expectRefusal(/new commits/, '0'.repeat(40))
  at.protect(['ci'])
  await expectRefusal(/Not all required status checks/)
  at.protect(null, 1)
  await expectRefusal(/enough approvals/)
  at.protect(null)
  repository.methods = { ...repository.methods, merge: false }
  await expectRefusal(/not allowed/)
  repository.methods = { ...repository.methods, merge: true }
  repository.members.set('robot', 'read')
  await expectRefusal(/account can't merge/)
  repository.members.set('robot', 'write')
  await at.forges.change(at.source, 1, { draft: true }, neverAborted)
  await expectRefusal(/Work in progress/)
  at.people.close(name, 1)
  await expectRefusal(/closed/)
})

test('tells conflicts, for which the forge has no words', async () => {
  await using at = await startWithPull()
  await at.read()
  at.server.git.conflicting.add(`${name} feature`)
  const merge = { method: 'merge', head: at.head } as const
  expect((await refusedByForge(at.forges.merge(at.source, 1, merge, neverAborted))).code).toBe('not_mergeable')
})

test('leaves the merge to the forge, once, and knows when somebody calls it off', async () => {
  await using at = await startWithPull()
  at.protect(['ci'])
  await at.read()
  const merge = { method: 'squash', head: at.head } as const
  const whenReady = async () => at.forges.mergeWhenReady(at.source, 1, merge, neverAborted)
  expect(await whenReady()).toBe('auto_merge')
  expect(await whenReady()).toBe('auto_merge')
  expect((await at.read()).auto_merge).toBe(true)
  at.people.cancelScheduledMerge(name, 1)
  expect((await at.read()).auto_merge).toBe(false)
  expect(await whenReady()).toBe('auto_merge')
  await at.people.status(name, at.head, 'ci', 'success')
  expect(await at.read()).toMatchObject({ state: 'merged', auto_merge: false })
})

test('merges at once what is ready', async () => {
  await using at = await startWithPull()
  await at.people.status(name, at.head, 'ci', 'success')
  await at.read()
  const merge = { method: 'merge', head: at.head } as const
  expect(await at.forges.mergeWhenReady(at.source, 1, merge, neverAborted)).toBe('auto_merge')
  expect((await at.read()).state).toBe('merged')
})

test('schedules no merge of another head, which the forge would not notice', async () => {
  await using at = await startWithPull()
  at.protect(['ci'])
  await at.read()
  const schedule = async (head: string) =>
    refusedByForge(at.forges.mergeWhenReady(at.source, 1, { method: 'merge', head }, neverAborted))
  expect((await schedule('0'.repeat(40))).code).toBe('not_mergeable')
  expect(at.people.pull(name, 1).pull.scheduled).toBeNull()
  let pushed = ''
  at.server.instead = ({ method, path }) => {
    // Somebody pushes between the look and the merge.
    if (method === 'POST' && path.endsWith('/merge')) pushed = at.server.git.commit(name, 'feature')
    return null
  }
  const { head } = at
  at.people.pull(name, 1).pull.status = 'mergeable'
  expect((await schedule(head)).code).toBe('not_mergeable')
  expect(pushed).not.toBe('')
  expect(at.people.pull(name, 1).pull.scheduled).toBeNull()
})

test('calls a scheduled merge off when somebody pushes, and finds one of an earlier process', async () => {
  await using at = await startWithPull()
  at.protect(['ci'])
  await at.read()
  await at.forges.mergeWhenReady(at.source, 1, { method: 'merge', head: at.head }, neverAborted)
  const later = at.restart()
  expect((await later.read(at.source, 1, neverAborted)).auto_merge).toBe(true)
  at.server.git.commit(name, 'feature')
  expect((await at.read()).auto_merge).toBe(false)
  expect(at.people.pull(name, 1).pull.scheduled).toBeNull()
  expect((await later.read(at.source, 1, neverAborted)).auto_merge).toBe(false)
})
