import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestRepository } from '../../helpers/git-repository.ts'
import { startWandering, work } from '../../helpers/wandering-agent.ts'

let wandering: Awaited<ReturnType<typeof startWandering>>
beforeAll(async () => {
  wandering = await startWandering()
})
afterAll(async () => {
  await wandering.app[Symbol.asyncDispose]()
})

/** Moves of what is not the agent's own: the review says so and waits for a person. */
const moved: Readonly<Record<string, readonly [command: string, notes: readonly object[]]>> = {
  'the base, by update-ref': [
    `${work} && git update-ref refs/heads/main HEAD`,
    [{ kind: 'base_moved', ref: 'refs/heads/main' }],
  ],
  'the base, by a push into the repository': [
    `${work} && git -C "$REPO" checkout -q --detach && git push -q "$REPO" HEAD:main`,
    [{ kind: 'base_moved', ref: 'refs/heads/main' }],
  ],
  'the base, backwards': [
    `${work} && git update-ref refs/heads/main HEAD~2`,
    [{ kind: 'base_moved', ref: 'refs/heads/main' }, { kind: 'base_rewritten' }],
  ],
  'another branch': [`${work} && git branch -f release HEAD`, [{ kind: 'refs_moved', ref: 'refs/heads/release' }]],
  'a branch that it deletes': [
    `${work} && git branch -D lonely`,
    [{ kind: 'refs_moved', ref: 'refs/heads/lonely', to: null }],
  ],
  'a tag': [`${work} && git tag -f v1`, [{ kind: 'refs_moved', ref: 'refs/tags/v1' }]],
  'a new tag': [`${work} && git tag v2`, [{ kind: 'refs_moved', ref: 'refs/tags/v2', from: null }]],
  'a symbolic ref': [
    `${work} && git symbolic-ref refs/heads/alias refs/heads/main`,
    [{ kind: 'refs_moved', ref: 'refs/heads/alias', to: 'ref: refs/heads/main' }],
  ],
  'the base, turned into a symbolic ref': [
    `${work} && git symbolic-ref refs/heads/main refs/heads/release`,
    [{ kind: 'base_moved', ref: 'refs/heads/main', to: 'ref: refs/heads/release' }],
  ],
  alternates: [
    `${work} && echo /tmp > "$(git rev-parse --git-common-dir)/objects/info/alternates"`,
    [{ kind: 'repository_changed', paths: ['objects/info/alternates'] }],
  ],
  shallow: [
    `${work} && git rev-parse main > "$(git rev-parse --git-common-dir)/shallow"`,
    [{ kind: 'repository_changed', paths: ['shallow'] }],
  ],
}
const withRefs = async (repository: TestRepository): Promise<void> => {
  await repository.commit('Second', { 'a.txt': 'one\ntwo\nthree\n', 'second.txt': '2\n' })
  for (const args of [
    ['branch', 'release'],
    ['tag', 'v1'],
    ['switch', '-qc', 'lonely'],
  ])
    await repository.git(args)
  await repository.commit('Lonely', { 'lonely.txt': 'l\n' })
  await repository.git(['switch', '-q', 'main'])
  // So that the base can be moved without its checkout.
  await repository.git(['checkout', '-q', '--detach'])
}

test.concurrent.for(Object.entries(moved))('notes that a run moved %s', async ([, [command, notes]]) => {
  await using ended = await wandering.runAgent(command, { prepare: withRefs })
  const review = await wandering.reviewOf(ended.task)
  expect(review.notes).toEqual(notes.map((note): unknown => expect.objectContaining(note)))
  expect(review.status).toBe('running')
  expect(ended.task.review_passed_at).toBeNull()
})

/** What people do meanwhile in their own checkout is no act of the run. */
const innocent: Readonly<Record<string, (repository: TestRepository) => Promise<unknown>>> = {
  'a commit on the base': (repository) => repository.commit('Mine', { 'mine.txt': 'm\n' }),
  'an amended commit on the base': (repository) =>
    repository.git(['commit', '-q', '--amend', '--allow-empty', '-m', 'Amended']),
  'a new branch with commits': async (repository) => {
    await repository.git(['switch', '-qc', 'own'])
    await repository.commit('Mine', { 'mine.txt': 'm\n' })
  },
  'a stash': async (repository) => {
    await repository.write({ 'a.txt': 'stashed\n' })
    await repository.git(['stash', 'push', '-q'])
  },
  'a deleted merged branch': (repository) => repository.git(['branch', '-D', 'release']),
  'a fetch': async (repository) => {
    await repository.git(['clone', '-q', repository.path, join(repository.beside, 'other')])
    const cwd = join(repository.beside, 'other')
    await repository.git(['-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'There', '--allow-empty'], {
      cwd,
    })
    await repository.git(['fetch', '-q', cwd, 'HEAD:refs/remotes/other/main'])
  },
}

test.concurrent.for(Object.entries(innocent))(
  'takes %s in the user’s checkout for the user’s',
  async ([name, meanwhile]) => {
    await using ended = await wandering.runAgent(work, {
      prepare: async (one) => await one.git(['branch', 'release']),
      meanwhile,
    })
    const rewritten = name.startsWith('an amended') ? ['base_rewritten'] : []
    expect((await wandering.notesOf(ended.task)).map(({ kind }) => kind)).toEqual(rewritten)
    expect(ended.task.error_annotation).toBeNull()
    if (name === 'a stash') expect(await ended.repository.git(['stash', 'list'])).toContain('WIP on main')
  },
)

test.concurrent('waits for a person before it merges a base that was rewritten', async () => {
  const drop = async (repository: TestRepository) => {
    await repository.git(['reset', '-q', '--hard', 'HEAD~1'])
  }
  const prepare = (repository: TestRepository) => repository.commit('Secret', { 'secret.txt': 's\n' })
  await using ended = await wandering.runAgent(work, { prepare, meanwhile: drop })
  const [note] = await wandering.notesOf(ended.task)
  expect(note).toMatchObject({ kind: 'base_rewritten', subjects: ['Secret'] })
  expect(ended.task.review_passed_at).toBeNull()
  await wandering.app.client.call('tasks.update_branch', { task_id: ended.task.id, strategy: 'rebase' })
  const { files } = await wandering.app.client.call('tasks.diff', { task_id: ended.task.id, scope: 'branch' })
  expect(files.map(({ path }) => path)).toEqual(['work.txt'])
  expect((await wandering.merge(await wandering.app.client.call('tasks.get', { task_id: ended.task.id }))).status).toBe(
    'done',
  )
  expect(await ended.repository.git(['ls-tree', '--name-only', 'main'])).not.toContain('secret.txt')
})

test.concurrent('asks a person again where the base was rewritten after the review', async () => {
  const prepare = (repository: TestRepository) => repository.commit('Secret', { 'secret.txt': 's\n' })
  await using ended = await wandering.runAgent(work, { prepare })
  await ended.repository.git(['reset', '-q', '--hard', 'HEAD~1'])
  const { task } = ended
  const refused = await wandering.app.client
    .call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version })
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'review_not_ready' })
  expect(await wandering.notesOf(task)).toEqual([expect.objectContaining({ kind: 'base_rewritten' })])
  expect((await wandering.merge(await wandering.app.client.call('tasks.get', { task_id: task.id }))).status).toBe(
    'done',
  )
})
