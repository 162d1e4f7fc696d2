import { expect, test } from 'vitest'
import { errorOf, fineGrained, startGithubForge } from '../../../helpers/github-forge.ts'

async function startReviewed(setup: Parameters<typeof startGithubForge>[0] = {}) {
  const at = await startGithubForge(setup)
  const { there } = await at.open()
  for (const login of ['ada', 'bob']) at.github.addMember(at.repository, login, 'write')
  const threads = () => at.forges.threads(at.source, 1, at.options)
  const reviews = async () => {
    const all = await at.forges.reviews(at.source, 1, at.options)
    return all.map(({ author, state }) => `${author} ${state}`)
  }
  return Object.assign(at, { there, threads, reviews })
}

test('reads threads with their lines and comments', async () => {
  await using at = await startReviewed()
  const { people } = at.github
  const first = people.commentOnLine(at.there, 'ada', { path: 'a b/ü.ts', line: 3 }, 'Why?')
  people.answer(first, 'stranger', 'Because.')
  const second = people.commentOnLine(at.there, 'review[bot]', { path: 'b.ts', line: null, side: 'LEFT' }, 'Gone.')
  second.outdated = true
  people.setResolved(second, true)
  people.commentOnLine(at.there, null, { path: 'c.ts', line: 1 }, 'Who?')
  const web = `${at.github.world.web}/octo/hello/pull/1`
  const id = (thread: typeof first, index: number) => String(thread.comments[index]?.id)
  expect(await at.threads()).toEqual([
    {
      id: first.node_id,
      path: 'a b/ü.ts',
      line: 3,
      side: 'new',
      resolved: false,
      outdated: false,
      url: `${web}#discussion_r${id(first, 0)}`,
      comments: [
        { id: id(first, 0), author: 'ada', is_member: true, body: 'Why?', created_at: expect.stringMatching(/Z$/) },
        { id: id(first, 1), author: 'stranger', is_member: false, body: 'Because.', created_at: expect.any(String) },
      ],
    },
    expect.objectContaining({
      path: 'b.ts',
      line: null,
      side: 'old',
      resolved: true,
      outdated: true,
      comments: [expect.objectContaining({ author: 'review[bot]' })],
    }),
    expect.objectContaining({ comments: [expect.objectContaining({ author: 'ghost', body: 'Who?' })] }),
  ])
})

test('reads two hundred threads, and one of two hundred comments', async () => {
  await using at = await startReviewed()
  const { people } = at.github
  for (let n = 0; n < 200; n++) people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: n + 1 }, `thread ${n}`)
  const long = at.there.threads[120]
  if (!long) throw new Error('It is missing.')
  for (let n = 1; n < 200; n++) people.answer(long, 'bob', `comment ${n}`)
  const threads = await at.threads()
  expect(threads.map(({ line }) => line)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
  expect(threads[120]?.comments.map(({ body }) => body)).toEqual([
    'thread 120',
    ...Array.from({ length: 199 }, (_, n) => `comment ${n + 1}`),
  ])
})

test('shows nothing of a review that isn’t sent yet, also not of the token’s own account', async () => {
  await using at = await startReviewed()
  const { people } = at.github
  people.commentOnLine(at.there, 'octo', { path: 'a.ts', line: 1 }, 'Not yet.', 'PENDING')
  const open = people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: 2 }, 'Sent.')
  people.answer(open, 'octo', 'Not yet either.', 'PENDING')
  await people.review(at.there, 'octo', 'PENDING', 'Not yet.')
  expect((await at.threads()).map(({ comments }) => comments.map(({ body }) => body))).toEqual([['Sent.']])
  expect(await at.reviews()).toEqual([])
})

test('answers and resolves a thread', async () => {
  await using at = await startReviewed()
  const thread = at.github.people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  const { forges, source, options } = at
  const written = await forges.reply(source, 1, thread.node_id, 'Mended.', options)
  expect(written).toMatchObject({ author: 'octo', is_member: true, body: 'Mended.' })
  await forges.resolve(source, 1, thread.node_id, options)
  const [read] = await at.threads()
  expect(read).toMatchObject({ resolved: true })
  expect(read?.comments.at(-1)).toEqual(written)
  await forges.resolve(source, 1, thread.node_id, options)
})

test('says so where an answer would be hidden in a review that the account has begun', async () => {
  await using at = await startReviewed()
  const { people } = at.github
  const thread = people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  await people.review(at.there, 'octo', 'PENDING')
  const refused = await errorOf(at.forges.reply(at.source, 1, thread.node_id, 'Mended.', at.options))
  expect(refused.code).toBe('refused')
  expect(refused.message).toContain('pending review')
  expect(thread.comments.length).toBe(1)
})

test('finds no thread that is gone', async () => {
  await using at = await startReviewed()
  const { forges, source, options } = at
  expect((await errorOf(forges.reply(source, 1, 'PRRT_0', 'x', options))).code).toBe('not_found')
  expect((await errorOf(forges.resolve(source, 1, 'PRRT_0', options))).code).toBe('not_found')
  expect((await errorOf(forges.threads(source, 9, options))).code).toBe('not_found')
})

test('returns the last word of each reviewer', async () => {
  await using at = await startReviewed()
  const { people } = at.github
  await people.review(at.there, 'ada', 'CHANGES_REQUESTED', 'Not so.')
  await people.review(at.there, 'bob', 'COMMENTED', 'Hm.')
  await people.review(at.there, 'ada', 'COMMENTED', 'And this.')
  expect(await at.reviews()).toEqual(['ada changes_requested', 'bob commented'])
  await people.review(at.there, 'bob', 'APPROVED')
  const approval = await people.review(at.there, 'ada', 'APPROVED')
  expect(await at.reviews()).toEqual(['ada approved', 'bob approved'])
  people.dismiss(approval)
  expect(await at.reviews()).toEqual(['ada dismissed', 'bob approved'])
  people.requestReview(at.there, 'ada')
  people.requestReview(at.there, 'cleo')
  at.there.requestedTeams.add('reviewers')
  expect(await at.reviews()).toEqual(['bob approved', 'ada requested', 'cleo requested', 'octo/reviewers requested'])
  const [first] = await at.forges.reviews(at.source, 1, at.options)
  expect(first).toMatchObject({ is_member: true, submitted_at: expect.stringMatching(/^2026-/), body: '' })
})

test('reads reviews beyond the first page', async () => {
  await using at = await startReviewed()
  for (let n = 0; n < 150; n++) await at.github.people.review(at.there, 'ada', 'COMMENTED', `${n}`)
  await at.github.people.review(at.there, 'ada', 'APPROVED')
  expect(await at.reviews()).toEqual(['ada approved'])
})

test('keeps what is readable where a part of the answer is refused', async () => {
  await using at = await startReviewed()
  const { people } = at.github
  people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  people.commentOnLine(at.there, 'bob', { path: 'b.ts', line: 2 }, 'Hm.')
  const thread = (path: string | null) => ({
    id: `PRRT_${path}`,
    path,
    line: 1,
    diffSide: 'RIGHT',
    isResolved: false,
    isOutdated: false,
    comments: {
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes: [
        {
          id: 'x',
          url: '',
          state: 'SUBMITTED',
          body: 'Text',
          createdAt: '2026-01-01T00:00:00Z',
          authorAssociation: null,
          author: null,
        },
        null,
      ],
    },
  })
  const data = {
    repository: {
      pullRequest: {
        reviewThreads: { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [null, thread('b.ts')] },
      },
    },
  }
  const errors = [
    {
      type: 'FORBIDDEN',
      path: ['repository', 'pullRequest', 'reviewThreads', 'nodes', 0],
      message: 'Resource not accessible by personal access token',
    },
  ]
  at.github.instead = ({ path }) => (path === '/graphql' ? { status: 200, body: { data, errors } } : null)
  expect(await at.threads()).toMatchObject([
    { path: 'b.ts', comments: [{ id: 'x', author: 'ghost', is_member: null, body: 'Text' }] },
  ])
})

test('names the right that threads need', async () => {
  await using at = await startReviewed({ token: fineGrained })
  const thread = at.github.people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  at.token.permissions = { metadata: 'read', pull_requests: 'write', contents: 'read' }
  expect(await at.threads()).toHaveLength(1)
  await at.forges.reply(at.source, 1, thread.node_id, 'Mended.', at.options)
  const refused = await errorOf(at.forges.resolve(at.source, 1, thread.node_id, at.options))
  expect(refused).toMatchObject({
    code: 'forbidden',
    right: 'Pull requests: read and write, and Contents: read and write',
  })
  at.token.permissions = { metadata: 'read' }
  expect((await errorOf(at.threads())).code).toBe('forbidden')
})

test('reads threads at GitHub Enterprise, whose GraphQL lies elsewhere and is older', async () => {
  await using at = await startReviewed({ isEnterprise: true })
  const thread = at.github.people.commentOnLine(at.there, 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  expect(await at.threads()).toMatchObject([{ path: 'a.ts', line: 1 }])
  await at.forges.reply(at.source, 1, thread.node_id, 'Mended.', at.options)
  await at.forges.resolve(at.source, 1, thread.node_id, at.options)
  expect(await at.threads()).toMatchObject([{ resolved: true, comments: [{ author: 'ada' }, { author: 'octo' }] }])
  expect(at.github.requests.some(({ path }) => path === '/api/graphql')).toBe(true)
})
