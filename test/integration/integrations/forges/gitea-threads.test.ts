import { expect, test } from 'vitest'
import { neverAborted, refusedByForge, startGiteaJob } from '../../../helpers/forge-job.ts'

const name = 'team/hello'

async function startWithPull(version?: string) {
  const at = await startGiteaJob(version === undefined ? {} : { version })
  await at.open()
  at.server.repository(name).members.set('anna', 'write')
  return {
    ...at,
    threads: async () => at.forges.threads(at.source, 1, neverAborted),
    reviews: async () => at.forges.reviews(at.source, 1, neverAborted),
    say: (user: string, line: number, body: string, review?: number) =>
      at.people.commentOnLine(name, 1, user, { path: 'a.ts', line, body, ...(review !== undefined && { review }) }),
    reply: async (thread: string, body: string) => at.forges.reply(at.source, 1, thread, body, neverAborted),
    resolve: async (thread: string) => at.forges.resolve(at.source, 1, thread, neverAborted),
  }
}

test('puts the comments of reviews into threads by their line, oldest first', async () => {
  await using at = await startWithPull()
  const first = at.say('anna', 3, 'Why?')
  at.say('anna', -8, 'Keep this.')
  at.say('stranger', 3, 'I wonder too.')
  at.say('anna', 3, 'Anyone?', first.review)
  const threads = await at.threads()
  expect(threads.map(({ line, side, comments }) => [line, side, comments.map(({ body }) => body)])).toEqual([
    [3, 'new', ['Why?', 'I wonder too.', 'Anyone?']],
    [8, 'old', ['Keep this.']],
  ])
  expect(threads[0]).toMatchObject({ id: String(first.id), path: 'a.ts', resolved: false, outdated: false })
  expect(threads[0]?.url).toBe(`${at.server.url}/${name}/pulls/1#issuecomment-${first.id}`)
  expect(threads[0]?.comments.map(({ is_member }) => is_member)).toEqual([true, false, true])
})

test('reads all reviews, which have no links, although others’ unfinished ones are counted', async () => {
  await using at = await startWithPull()
  at.people.review(name, 1, 'carl', 'PENDING')
  for (let number = 1; number <= 120; number++) at.say('anna', number, `Line ${number}`)
  expect((await at.threads()).map(({ line }) => line)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1))
})

test('asks for no comments of reviews that have none', async () => {
  await using at = await startWithPull()
  at.people.review(name, 1, 'anna', 'APPROVED')
  expect(await at.threads()).toEqual([])
  expect(at.server.requests.filter(({ path }) => path.endsWith('/comments'))).toEqual([])
})

test('shows nothing of a review of its own account that is not submitted', async () => {
  await using at = await startWithPull()
  const pending = at.people.review(name, 1, 'robot', 'PENDING')
  at.say('robot', 3, 'Not yet.', pending.id)
  expect(await at.threads()).toEqual([])
  expect(await at.reviews()).toEqual([])
})

test('calls threads outdated whose changes are others since', async () => {
  await using at = await startWithPull()
  at.say('anna', 3, 'Why?')
  at.server.git.commit(name, 'feature')
  await at.read()
  at.say('anna', 4, 'And here?')
  expect((await at.threads()).map(({ outdated }) => outdated)).toEqual([true, false])
})

test('starts a new thread on the line of a resolved one if another commit is meant', async () => {
  await using at = await startWithPull()
  const first = at.say('anna', 3, 'Why?')
  at.people.resolve(name, 1, first.id, 'anna')
  at.say('anna', 3, 'Thanks.', first.review)
  at.server.git.commit(name, 'feature')
  await at.read()
  at.say('carl', 3, 'And why now?')
  expect((await at.threads()).map(({ resolved, comments }) => [resolved, comments.length])).toEqual([
    [true, 2],
    [false, 1],
  ])
})

test.each([
  ['1.27.0', /\/pulls\/1\/comments\/\d+\/replies$/],
  ['1.26.2', /\/pulls\/1\/reviews$/],
  ['1.22.6', /\/pulls\/1\/reviews$/],
  ['13.0.2+gitea-1.22.0', /\/pulls\/1\/reviews\/\d+\/comments$/],
])('answers in a thread with version %s', async (version, path) => {
  await using at = await startWithPull(version)
  at.say('anna', -3, 'Why?')
  at.say('anna', 9, 'And here?')
  const [thread] = await at.threads()
  const written = await at.reply(thread?.id ?? '', '/copse\n<!-- mark -->')
  expect(written).toMatchObject({ author: 'robot', is_member: true, body: '/copse\n<!-- mark -->' })
  const threads = await at.threads()
  expect(threads).toHaveLength(2)
  expect(threads[0]?.comments.at(-1)).toEqual(written)
  expect(at.server.requests.filter(({ method }) => method === 'POST').at(-1)?.path).toMatch(path)
})

test('does not submit what the account’s owner has not submitted', async () => {
  await using at = await startWithPull()
  at.say('anna', 3, 'Why?')
  const [thread] = await at.threads()
  const pending = at.people.review(name, 1, 'robot', 'PENDING')
  at.say('robot', 5, 'Not yet.', pending.id)
  expect((await refusedByForge(at.reply(thread?.id ?? '', 'Because.'))).message).toContain('not submitted')
  expect(pending.state).toBe('PENDING')
})

test('says that a thread is gone', async () => {
  await using at = await startWithPull()
  expect((await refusedByForge(at.reply('4711', 'Because.'))).code).toBe('not_found')
  expect((await refusedByForge(at.resolve('4711'))).code).toBe('not_found')
})

test('resolves a thread', async () => {
  await using at = await startWithPull()
  at.say('anna', 3, 'Why?')
  const [thread] = await at.threads()
  await at.resolve(thread?.id ?? '')
  await at.resolve(thread?.id ?? '')
  expect((await at.threads())[0]?.resolved).toBe(true)
})

test.each(['1.25.3', '13.0.2+gitea-1.22.0'])('says that version %s resolves on its page only', async (version) => {
  await using at = await startWithPull(version)
  at.say('anna', 3, 'Why?')
  const [thread] = await at.threads()
  expect((await refusedByForge(at.resolve(thread?.id ?? ''))).code).toBe('not_supported')
})

test('takes the last word of each reviewer, and no comment for a change of mind', async () => {
  await using at = await startWithPull()
  at.server.repository(name).members.set('carl', 'read')
  at.people.review(name, 1, 'anna', 'REQUEST_CHANGES', 'No.')
  at.people.review(name, 1, 'anna', 'APPROVED', 'Yes.')
  at.people.review(name, 1, 'anna', 'COMMENT', 'Nice.')
  at.people.review(name, 1, 'carl', 'COMMENT', 'Hm.')
  const dismissed = at.people.review(name, 1, 'dora', 'REQUEST_CHANGES', 'Never.')
  dismissed.dismissed = true
  at.people.review(name, 1, 'emil', 'REQUEST_REVIEW')
  expect(await at.reviews()).toEqual([
    { author: 'anna', is_member: true, state: 'approved', body: 'Yes.', submitted_at: expect.any(String) },
    { author: 'carl', is_member: false, state: 'commented', body: 'Hm.', submitted_at: expect.any(String) },
    { author: 'dora', is_member: false, state: 'dismissed', body: 'Never.', submitted_at: expect.any(String) },
    { author: 'emil', is_member: false, state: 'requested', body: '', submitted_at: null },
  ])
})

test('leaves out what is odd and keeps the rest', async () => {
  await using at = await startWithPull()
  at.say('anna', 3, 'Why?')
  const { requests } = at.server
  at.server.instead = ({ path }) =>
    path.endsWith('/reviews')
      ? { status: 200, body: [{ id: 'odd' }, { id: 103, user: null, state: 'APPROVED', body: null }, null] }
      : null
  expect(await at.reviews()).toEqual([])
  expect(requests.length).toBeGreaterThan(0)
  at.server.instead = ({ path }) => (path.endsWith('/assignees') ? { status: 403, body: { message: 'no' } } : null)
  expect((await at.threads())[0]?.comments[0]?.is_member).toBeNull()
})
