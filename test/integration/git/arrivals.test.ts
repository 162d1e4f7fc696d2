import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createArrivalsFixture, never } from './arrivals-fixture.ts'

const branch = 'refs/heads/copse/task-1'

test('brings a branch and a snapshot over HTTP, and the project gets only what is taken', async () => {
  await using fixture = await createArrivalsFixture()
  const { repository, arrivals, task } = fixture
  const before = await fixture.projectState()
  const job = fixture.job()
  const clone = await fixture.clone(job)
  const work = await repository.commit('Work', { 'a.txt': 'work\n' }, clone)
  const push = await fixture.git(['push', job.url, `HEAD:${branch}`, 'HEAD:refs/svc/live/snapshot'], { cwd: clone })
  expect(push.err).toContain('-> copse/task-1')
  expect(push).toMatchObject({ ok: true })
  expect(await arrivals.read(task, { signal: never })).toMatchObject({
    branch: work,
    snapshot: work,
    base_commit: fixture.base,
  })
  expect(await fixture.projectState()).toBe(before)
  expect(await arrivals.takeBranch(task, { commit: work, from: null }, { signal: never })).toBe('taken')
  expect(await repository.git(['show', 'copse/task-1:a.txt'])).toBe('work')
  await repository.git(['fsck', '--strict'])
})
