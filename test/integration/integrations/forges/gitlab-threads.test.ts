import { expect, test } from 'vitest'
import { neverAborted, refusedByForge } from '../../../helpers/forge-job.ts'
import { path, startGitlabJob } from '../../../helpers/gitlab-job.ts'

async function startWithPull() {
  const at = await startGitlabJob()
  await at.open()
  at.project.members.set('anna', 30)
  return {
    ...at,
    threads: async () => at.forges.threads(at.source, 1, neverAborted),
    reviews: async () => at.forges.reviews(at.source, 1, neverAborted),
  }
}

test('reads threads with their lines, from all pages, without single comments and what GitLab notes', async () => {
  await using at = await startWithPull()
  const first = await at.people.thread(path, 1, 'anna', 'Why?', { new_line: 3 })
  at.people.answer(path, 1, first.id, 'stranger', 'I wonder too.')
  await at.people.thread(path, 1, 'anna', 'Keep this.', { old_line: 8, old_path: 'old.ts', new_path: 'new.ts' })
  await at.people.thread(path, 1, 'anna', 'In general.')
  at.people.comment(path, { kind: 'pull', iid: 1 }, 'anna', 'Nice.')
  for (let number = 0; number < 120; number++) at.people.system(path, 1, `event ${number}`)
  await at.people.thread(path, 1, 'anna', 'At last.', { new_line: 9 })
  const threads = await at.threads()
  expect(threads.map(({ path: file, line, side }) => [file, line, side])).toEqual([
    ['a.ts', 3, 'new'],
    ['old.ts', 8, 'old'],
    [null, null, 'new'],
    ['a.ts', 9, 'new'],
  ])
  const note = first.notes[0]?.id ?? 0
  expect(threads[0]).toMatchObject({
    id: first.id,
    resolved: false,
    outdated: false,
    url: `${at.server.url}/${path}/-/merge_requests/1#note_${note}`,
    comments: [
      { id: String(note), author: 'anna', is_member: true, body: 'Why?' },
      { author: 'stranger', is_member: false, body: 'I wonder too.' },
    ],
  })
})

test('knows a thread whose line is gone', async () => {
  await using at = await startWithPull()
  await at.people.thread(path, 1, 'anna', 'Gone soon.', { new_line: 3 })
  const moved = await at.people.thread(path, 1, 'anna', 'Stays.', { new_line: 4 })
  const pushed = at.server.git.commit(path, 'feature')
  const position = moved.notes[0]?.position
  if (position) position.head_sha = pushed
  expect((await at.threads()).map(({ line, outdated }) => [line, outdated])).toEqual([
    [null, true],
    [4, false],
  ])
})

test('answers and resolves', async () => {
  await using at = await startWithPull()
  const thread = await at.people.thread(path, 1, 'anna', 'Why?', { new_line: 3 })
  const written = await at.forges.reply(at.source, 1, thread.id, 'Because.\n<!-- mark -->', neverAborted)
  expect(written).toMatchObject({ author: 'robot', is_member: true, body: 'Because.\n<!-- mark -->' })
  const [read] = await at.threads()
  expect(read?.comments.at(-1)).toEqual(written)
  await at.forges.resolve(at.source, 1, thread.id, neverAborted)
  await at.forges.resolve(at.source, 1, thread.id, neverAborted)
  expect((await at.threads())[0]?.resolved).toBe(true)
})

test('says that a thread is gone, and that it may not be resolved', async () => {
  await using at = await startWithPull()
  expect((await refusedByForge(at.forges.reply(at.source, 1, 'none', 'Hm.', neverAborted))).code).toBe('not_found')
  const thread = await at.people.thread(path, 1, 'anna', 'Why?')
  at.people.mergeRequest(path, 1)
  at.project.members.set('robot', 20)
  Object.assign(at.people.mergeRequest(path, 1), { user: 'anna' })
  expect((await refusedByForge(at.forges.resolve(at.source, 1, thread.id, neverAborted))).code).toBe('forbidden')
})

test('takes an approval for the last word, else what the review says', async () => {
  await using at = await startWithPull()
  at.people.review(path, 1, 'carl', 'requested_changes')
  at.people.review(path, 1, 'dora', 'reviewed')
  at.people.review(path, 1, 'emil', 'unreviewed')
  at.people.review(path, 1, 'fritz', 'unapproved')
  at.people.approve(path, 1, 'anna')
  const reviews = await at.reviews()
  expect(reviews.map(({ author, is_member, state }) => [author, is_member, state])).toEqual([
    ['carl', false, 'changes_requested'],
    ['dora', false, 'commented'],
    ['emil', false, 'requested'],
    ['fritz', false, 'requested'],
    ['anna', true, 'approved'],
  ])
  expect(reviews.at(-1)?.submitted_at).not.toBeNull()
})

test('keeps what one part tells where another is refused', async () => {
  await using at = await startWithPull()
  at.people.approve(path, 1, 'anna')
  await at.people.thread(path, 1, 'anna', 'Why?')
  at.server.instead = ({ path: asked }) => {
    if (asked.endsWith('/reviewers')) return { status: 404, body: { error: '404 Not Found' } }
    return asked.includes('/members/') ? { status: 403, body: { message: '403 Forbidden' } } : null
  }
  expect(await at.reviews()).toMatchObject([{ author: 'anna', state: 'approved', is_member: null }])
  expect(await at.threads()).toMatchObject([{ comments: [{ author: 'anna', is_member: null }] }])
})

test('leaves out what is odd and keeps the rest', async () => {
  await using at = await startWithPull()
  at.server.instead = ({ path: asked }) =>
    asked.endsWith('/discussions')
      ? {
          status: 200,
          body: [
            { id: 7 },
            null,
            { id: 'odd', notes: [{ id: 'x' }] },
            { id: 'ok', notes: [{ id: 5, created_at: '2026-01-01T00:00:00Z', body: null, resolvable: true }] },
          ],
        }
      : null
  expect(await at.threads()).toMatchObject([
    { id: 'ok', comments: [{ id: '5', author: '', is_member: null, body: '' }] },
  ])
})
