import { expect, test } from 'vitest'
import { createPushFixture, never } from './push-fixture.ts'

test('fetches a branch into a ref of its own, and changes nothing else', async () => {
  await using fixture = await createPushFixture()
  const { repository, server, name, first, pusher } = fixture
  const theirs = await fixture.pushByOthers('task', first)
  await server.git(name, ['tag', 'v1', theirs])
  await repository.git(['remote', 'add', 'origin', fixture.url])
  await fixture.configure('[fetch]\n\tprune = true\n[remote "origin"]\n\ttagOpt = --tags\n')
  const before = await repository.git(['for-each-ref'])
  const request = { ...fixture.request({ remote: 'origin' }), into_ref: 'refs/copse/pulls/7' }
  expect(await pusher.head({ ...request, branch: 'task' }, { signal: never })).toBe(theirs)
  expect(await pusher.fetch(request, { signal: never })).toBe(theirs)
  const after = (await repository.git(['for-each-ref'])).split('\n')
  expect(after.filter((line) => !before.includes(line))).toEqual([`${theirs} commit\trefs/copse/pulls/7`])
  expect(after).toHaveLength(before.split('\n').length + 1)
  expect(await fixture.leftFiles()).toEqual([])
  await repository.git(['fsck', '--strict', '--connectivity-only'])

  const again = await fixture.pushByOthers('task', theirs)
  expect(await pusher.fetch(request, { signal: never })).toBe(again)
  expect(await repository.git(['rev-parse', request.into_ref])).toBe(again)
  expect(await pusher.fetch(request, { signal: never })).toBe(again)
})

test('answers null for a branch that is not there, and leaves the ref', async () => {
  await using fixture = await createPushFixture()
  const { pusher, first, server, name, repository } = fixture
  const request = { ...fixture.request(), into_ref: 'refs/copse/pulls/7' }
  expect(await pusher.head(request, { signal: never })).toBeNull()
  await fixture.pushByOthers('some/task', first)
  expect(await pusher.head(request, { signal: never })).toBeNull()
  expect(await pusher.fetch(request, { signal: never })).toBeNull()
  const theirs = await fixture.pushByOthers('task', first)
  await pusher.fetch(request, { signal: never })
  await server.git(name, ['update-ref', '-d', 'refs/heads/task'])
  expect(await pusher.fetch(request, { signal: never })).toBeNull()
  expect(await repository.git(['rev-parse', request.into_ref])).toBe(theirs)
  await server.create('acme/empty')
  expect(await pusher.head({ ...request, url: `${server.url}/acme/empty.git` }, { signal: never })).toBeNull()
})

test('fetches only what is not here', async () => {
  await using fixture = await createPushFixture()
  const { pusher, repository, server, name } = fixture
  for (const nth of [1, 2, 3]) await repository.commit(`Old ${nth}`, { [`${nth}.txt`]: `${nth}\n` })
  await repository.git(['push', '--quiet', `${server.root}/${name}.git`, 'main'])
  const theirs = await fixture.pushByOthers('task', 'main')
  await repository.git(['gc', '--quiet', '--prune=now'])
  const count = async () => {
    const [loose, packed] = ['count', 'in-pack'].map(async (what) => {
      const counted = await repository.git(['count-objects', '--verbose'])
      return Number(new RegExp(`^${what}: (\\d+)`, 'm').exec(counted)?.[1])
    })
    return ((await loose) ?? 0) + ((await packed) ?? 0)
  }
  const before = await count()
  expect(await pusher.fetch({ ...fixture.request(), into_ref: 'refs/copse/pulls/7' }, { signal: never })).toBe(theirs)
  expect(await count()).toBe(before + 1)
})

test('refuses as a push does', async () => {
  await using fixture = await createPushFixture()
  fixture.server.tokens.clear()
  const request = { ...fixture.request(), into_ref: 'refs/copse/pulls/7' }
  const refused = { name: 'PushError', code: 'unauthorized' }
  await expect(fixture.pusher.fetch(request, { signal: never })).rejects.toMatchObject(refused)
  await expect(fixture.pusher.head(request, { signal: never })).rejects.toMatchObject(refused)
})

test('says how two commits lie to each other', async () => {
  await using fixture = await createPushFixture()
  const { pusher, repository, first, work } = fixture
  const other = await repository.commit('Other', { 'other.txt': 'other\n' })
  const relation = (ours: string, theirs: string) => pusher.relation(repository.path, ours, theirs, { signal: never })
  expect(await relation(work, work)).toBe('same')
  expect(await relation(work, first)).toBe('ahead')
  expect(await relation(first, work)).toBe('behind')
  expect(await relation(work, other)).toBe('diverged')
})

test('lists remotes as git does', async () => {
  await using fixture = await createPushFixture()
  const { pusher, repository } = fixture
  await fixture.configure(
    [
      '[url "https://git.example.com/"]\n\tinsteadOf = lab:',
      '[url "https://git.example.com/long/"]\n\tinsteadOf = lab:long-',
      '[url "ssh://git@git.example.com/"]\n\tpushInsteadOf = https://git.example.com/',
      '[url "git@push.example.com:"]\n\tpushInsteadOf = lab:',
    ].join('\n'),
  )
  const set = async (...settings: readonly (readonly [key: string, value: string])[]) => {
    for (const [key, value] of settings) await repository.git(['config', '--add', key, value])
  }
  await set(
    ['remote.origin.url', 'lab:acme/shop'],
    ['remote.a.b "c".url', 'lab:long-name'],
    ['remote.two.url', 'https://one.example.com/x'],
    ['remote.two.url', 'https://git.example.com/y'],
    ['remote.apart.url', 'lab:in'],
    ['remote.apart.pushurl', 'lab:out'],
    ['remote.apart.pushurl', 'https://git.example.com/out'],
    ['remote.empty.fetch', '+refs/heads/*:refs/remotes/empty/*'],
  )
  const env = { GIT_CONFIG_GLOBAL: process.env['GIT_CONFIG_GLOBAL'] }
  const told = (await repository.git(['remote', '--verbose'], { env })).split('\n').filter((line) => /\)$/.test(line))
  const listed = (await pusher.remotes(repository.path, { signal: never })).flatMap(
    ({ name, fetch_url, push_urls }) => [
      `${name}\t${fetch_url} (fetch)`,
      ...push_urls.map((url) => `${name}\t${url} (push)`),
    ],
  )
  expect(listed.toSorted()).toEqual(told.filter((line) => !line.startsWith('empty')).toSorted())
  expect(listed).toHaveLength(9)
})
