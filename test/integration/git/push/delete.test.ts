import { expect, test } from 'vitest'
import { createPushFixture, never, type PushFixture } from './push-fixture.ts'

const remove = (fixture: PushFixture, expected: string, branch = 'task') => {
  const { remote_branch: _branch, commit: _commit, force: _force, ...address } = fixture.request()
  return fixture.pusher.delete({ ...address, branch, expected }, { signal: never })
}

test('deletes a branch there at its commit, and nothing else there or here', async () => {
  await using fixture = await createPushFixture()
  const { server, name, repository, first, work } = fixture
  await fixture.push()
  await fixture.push({ remote_branch: 'other-task' })
  const before = await repository.git(['for-each-ref'])
  expect(await remove(fixture, work)).toBe('deleted')
  expect(await server.refs(name)).toEqual({ 'refs/heads/main': first, 'refs/heads/other-task': work })
  expect(await repository.git(['for-each-ref'])).toBe(before)
  expect(await fixture.leftFiles()).toEqual([])
  expect(await remove(fixture, work)).toBe('gone')
})

test('leaves a branch that is at another commit, also one that moves at the last moment', async () => {
  await using fixture = await createPushFixture()
  const { server, name, first, work } = fixture
  await fixture.push()
  expect(await remove(fixture, first)).toBe('moved')
  const theirs = await fixture.pushByOthers('other', work)
  await server.hook(name, 'pre-receive', `unset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/task ${theirs}`)
  expect(await remove(fixture, work)).toBe('moved')
  expect(await server.refs(name)).toMatchObject({ 'refs/heads/task': theirs })
})

test('says that the remote refuses', async () => {
  await using fixture = await createPushFixture()
  const { server, name, work } = fixture
  await fixture.push()
  await server.git(name, ['config', 'receive.denyDeletes', 'true'])
  await expect(remove(fixture, work)).rejects.toMatchObject({ code: 'rejected', reason: 'protected' })
  expect(await server.refs(name)).toMatchObject({ 'refs/heads/task': work })
})
