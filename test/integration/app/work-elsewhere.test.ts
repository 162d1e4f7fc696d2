import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReviewNote } from '../../../src-shared/contract/reviews.ts'
import type { Task, WorkPlace } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { present } from '../../helpers/present.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

let app: RunningApp
beforeAll(async () => {
  app = await runApp()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
})

interface Ended extends AsyncDisposable {
  readonly repository: TestRepository
  readonly task: Task
  readonly path: string
  readonly branch: string
}

const base = { 'README.md': 'readme\n', 'a.txt': 'one\ntwo\nthree\n', '.gitignore': 'dist/\n' }

/** Lets an agent run a command in a new repository, and returns its task once it rests in review or elsewhere. */
async function runAgent(
  command: string,
  {
    prepare,
    meanwhile,
    more = {},
  }: {
    readonly prepare?: (repository: TestRepository) => Promise<unknown>
    /** What a person does in their checkout while the agent waits for the file `go` beside it. */
    readonly meanwhile?: (repository: TestRepository) => Promise<unknown>
    readonly more?: object
  } = {},
): Promise<Ended> {
  const repository = await createTestRepository({ files: base })
  await prepare?.(repository)
  const { client } = app
  const project = await client.call('projects.create', { name: 'Elsewhere', repo_path: repository.path })
  const go = join(repository.beside, 'go')
  const waits = meanwhile ? `while [ ! -e '${go}' ]; do sleep 0.02; done; ` : ''
  const agent = await client.call('agents.create', {
    name: 'Wanderer',
    executor: 'command',
    config: {
      command: `REPO='${repository.path}'; B=$(git branch --show-current); ${waits}${command}; echo done`,
      containment: 'none',
    },
  })
  const created = await client.call('tasks.create', { project_id: project.id, title: 'Wander', ...more })
  const { workspace } = await client.call('tasks.claim', { task_id: created.id, agent_id: agent.id })
  if (meanwhile) {
    await app.taskWhere(created.id, (one) => one.active_execution_id !== null)
    await meanwhile(repository)
    await repository.write({ go: '' }, repository.beside)
  }
  const task = await app.taskWhere(created.id, isResting)
  const { path, branch } = present(workspace)
  return { repository, task, path, branch, [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose]() }
}

/** Nothing runs: the review has been decided, or the task waits for a person. */
const isResting = ({ active_execution_id, error_annotation, entry_barrier, review_summary }: Task): boolean =>
  active_execution_id === null && (error_annotation !== null || (!entry_barrier && review_summary !== null))

async function reviewOf(task: Task) {
  return present((await app.client.call('tasks.reviews', { task_id: task.id })).items[0])
}

async function notesOf(task: Task): Promise<readonly ReviewNote[]> {
  return (await reviewOf(task)).notes
}

async function merge(task: Task): Promise<Task> {
  const { client } = app
  const { tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'pass', ...(tree !== null && { tree }) })
  const { version } = await client.call('tasks.get', { task_id: task.id })
  return (
    await client.call('tasks.transition', {
      task_id: task.id,
      status: 'merging',
      version,
      ...(tree !== null && { tree }),
    })
  ).task
}

const recover = async (task: Task, action: 'take_work' | 'leave_work'): Promise<Task> => {
  await app.client.call('tasks.recover', { task_id: task.id, action })
  return await app.taskWhere(task.id, isResting)
}

const work = 'echo work > work.txt && git add -A && git commit -qm Work'

/** Ways of an agent to leave commits that descend from the task's branch: these are taken. */
const taken: Readonly<Record<string, string>> = {
  'a branch of its own': `git switch -qc feature && ${work}`,
  'a branch with a slash': `git switch -qc agent/fix && ${work}`,
  'a detached HEAD': `git checkout -q --detach && ${work}`,
  'a renamed branch': `git branch -m renamed && ${work}`,
  'a branch of its own, the task’s deleted': `git switch -qc feature && git branch -D $B && ${work}`,
  'a branch of a branch': `git switch -qc one && ${work} && git switch -qc two && echo more > more.txt && git add -A && git commit -qm More`,
  'a branch named like a tag': `git tag same && git switch -qc same && ${work}`,
  'a bisect that goes on': `${work} && git bisect start -q && git bisect bad HEAD && git bisect good HEAD~1 && git checkout -q --detach $B`,
  'a branch of its own, and uncommitted files': `git switch -qc feature && echo work > work.txt && git add -A && git commit -qm Work && echo more >> a.txt`,
}

test.concurrent.for(Object.entries(taken))('takes the work of %s', async ([, command]) => {
  await using ended = await runAgent(command)
  const { task, repository, branch, path } = ended
  expect(task).toMatchObject({ status: 'review', error_annotation: null })
  expect(await repository.git(['symbolic-ref', 'HEAD'], { cwd: path })).toBe(`refs/heads/${branch}`)
  const { files } = await app.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(files.map((file) => file.path)).toContain('work.txt')
  expect((await merge(task)).status).toBe('done')
  expect(await repository.git(['show', 'main:work.txt'])).toBe('work')
})

test.concurrent('says at the review from where work was taken', async () => {
  await using ended = await runAgent(`git switch -qc feature && ${work}`)
  expect(await notesOf(ended.task)).toEqual([{ kind: 'work_taken', from: 'refs/heads/feature', commits: 1 }])
  expect((await reviewOf(ended.task)).status).toBe('passed')
  expect(await ended.repository.git(['rev-parse', 'feature'])).toBe(
    await ended.repository.git(['rev-parse', ended.branch]),
  )
})

/** Ways to leave work that does not simply follow: a person decides. */
const held: Readonly<Record<string, readonly [command: string, kind: WorkPlace['kind']]>> = {
  'an orphan branch': [`git checkout -q --orphan lone && ${work}`, 'branch'],
  'an orphan branch without the old files': [
    `git checkout -q --orphan lone && git rm -rfq . && git checkout $B -- README.md a.txt .gitignore && ${work}`,
    'branch',
  ],
  'a stash': ['echo work > work.txt && git stash push -qu', 'stash'],
  'a stash with a message': ['echo work > work.txt && git add -A && git stash push -qm mine', 'stash'],
  'a stash of a detached HEAD': [
    'git checkout -q --detach && echo work > work.txt && git add -A && git stash push -q && git switch -q -',
    'stash',
  ],
  'a stash that was stored by hand': [
    'echo work > work.txt && git add -A && git stash store -m custom $(git stash create) && git reset -q --hard',
    'stash',
  ],
  'a branch that it left again': [`git switch -qc feature && ${work} && git switch -q $B`, 'branch'],
  'an orphan branch that it left again': [`git checkout -q --orphan lone && ${work} && git switch -q $B`, 'branch'],
  'a worktree of its own': [
    `git worktree add -q "$REPO/../beside/wt" -b feature && cd "$REPO/../beside/wt" && ${work}`,
    'branch',
  ],
  'a removed .git file': ['echo work > work.txt && rm .git', 'link'],
  'a .git file that leads elsewhere': ['echo work > work.txt && echo "gitdir: $REPO/.git" > .git', 'link'],
  'a .git file that leads nowhere': ['echo work > work.txt && echo "gitdir: /nowhere" > .git', 'link'],
  'a repository in place of the .git file': [
    `echo work > work.txt && rm .git && git init -qb main . && git config user.name a && git config user.email a@b.c && git add -A && git commit -qm Own`,
    'link',
  ],
  'a record that was pruned': [
    'echo work > work.txt && R=$(git rev-parse --git-dir) && rm .git && rm -rf "$R"',
    'link',
  ],
  'a task’s branch that stands for another': [
    `git branch other && git symbolic-ref refs/heads/$B refs/heads/other && ${work}`,
    'branch',
  ],
  'a rewritten history on a detached HEAD': [
    `${work} && git checkout -q --detach main && echo work > work.txt && echo b > b.txt && git add -A && git commit -qm Other`,
    'detached',
  ],
}

test.concurrent.for(Object.entries(held))('holds the task for %s, and takes the work', async ([, [command, kind]]) => {
  await using ended = await runAgent(command)
  const { task, repository } = ended
  expect(task.error_annotation).toMatchObject({
    type: 'work_elsewhere',
    recovery_actions: ['take_work', 'leave_work'],
    places: [expect.objectContaining({ kind })],
  })
  expect(task.status).toBe('review')
  expect((await reviewOf(task)).status).toBe('pending')
  expect((await app.client.call('tasks.transitions', { task_id: task.id })).items.some((one) => one.rejection)).toBe(
    false,
  )
  const ready = await recover(task, 'take_work')
  expect(ready.error_annotation).toBeNull()
  expect((await merge(ready)).status).toBe('done')
  expect(await repository.git(['show', 'main:work.txt'])).toContain('work')
  expect(await repository.git(['show', 'main:a.txt'])).toBe('one\ntwo\nthree')
  expect(await repository.git(['stash', 'list'])).toBe('')
})

test.concurrent.for(Object.entries(held))('leaves out %s, kept as a rescue', async ([, [command, kind]]) => {
  await using ended = await runAgent(command)
  const { repository } = ended
  const ready = await recover(ended.task, 'leave_work')
  expect(ready.error_annotation).toBeNull()
  expect(await repository.git(['stash', 'list'])).toBe('')
  if (kind === 'link') return
  const { items } = await app.client.call('rescues.of_task', { task_id: ready.id })
  expect(items.length).toBeGreaterThan(0)
  const kept = await Promise.all(items.map(({ ref }) => repository.git(['ls-tree', '-r', '--name-only', ref])))
  const untracked = await Promise.all(
    items.map(({ ref }) => repository.git(['ls-tree', '-r', '--name-only', `${ref}^3`]).catch(() => '')),
  )
  expect([...kept, ...untracked].join('\n')).toContain('work.txt')
  const { files } = await app.client.call('tasks.diff', { task_id: ready.id, scope: 'branch' })
  expect(files.some(({ path }) => path === 'b.txt')).toBe(false)
})

test.concurrent('refuses the diff of a worktree whose .git file is gone', async () => {
  await using ended = await runAgent('echo work > work.txt && rm .git')
  const refused = await app.client
    .call('tasks.diff', { task_id: ended.task.id, scope: 'branch' })
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'workspace_failed' })
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
  await using ended = await runAgent(command, { prepare: withRefs })
  const review = await reviewOf(ended.task)
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
    await using ended = await runAgent(work, {
      prepare: async (one) => await one.git(['branch', 'release']),
      meanwhile,
    })
    const rewritten = name.startsWith('an amended') ? ['base_rewritten'] : []
    expect((await notesOf(ended.task)).map(({ kind }) => kind)).toEqual(rewritten)
    expect(ended.task.error_annotation).toBeNull()
    if (name === 'a stash') expect(await ended.repository.git(['stash', 'list'])).toContain('WIP on main')
  },
)

test.concurrent('leaves the user’s stash alone when the agent stashes in the same second', async () => {
  const meanwhile = async (repository: TestRepository) => {
    await repository.write({ 'a.txt': 'mine\n' })
    await repository.git(['stash', 'push', '-q'])
  }
  await using ended = await runAgent('echo work > work.txt && git stash push -qu', { meanwhile })
  expect(ended.task.error_annotation?.places).toEqual([
    expect.objectContaining({ kind: 'stash', commits: 1, files: 1 }),
  ])
  const ready = await recover(ended.task, 'take_work')
  expect(existsSync(join(ended.path, 'work.txt'))).toBe(true)
  expect(ready.error_annotation).toBeNull()
  expect(await ended.repository.git(['stash', 'list', '--format=%gs'])).toMatch(/^WIP on main: /)
})

test.concurrent('holds an agent that does all of it, and takes every place', async () => {
  const all = [
    'echo s > stashed.txt && git stash push -qu',
    'git switch -qc left && echo l > left.txt && git add -A && git commit -qm Left && git switch -q $B',
    'git checkout -q --orphan lone && echo work > work.txt && git add -A && git commit -qm Lone',
  ].join(' && ')
  await using ended = await runAgent(all)
  const kinds = ended.task.error_annotation?.places?.map(({ kind }) => kind)
  expect(kinds?.toSorted()).toEqual(['branch', 'branch', 'stash'])
  const ready = await recover(ended.task, 'take_work')
  expect(ready.error_annotation).toBeNull()
  expect((await merge(ready)).status).toBe('done')
  const files = await ended.repository.git(['ls-tree', '--name-only', 'main'])
  expect(files.split('\n')).toEqual(expect.arrayContaining(['left.txt', 'stashed.txt', 'work.txt']))
})

test.concurrent('only notes a branch that the agent left beside its own work', async () => {
  await using ended = await runAgent(`git switch -qc spike && ${work} && git switch -q $B && echo own > own.txt`)
  expect(await notesOf(ended.task)).toEqual([{ kind: 'work_left', ref: 'refs/heads/spike', commits: 1 }])
  expect(ended.task.review_passed_at).not.toBeNull()
})

test.concurrent('gives the coder what conflicts', async () => {
  const conflict = [
    'echo stashed > a.txt && git stash push -q',
    'echo committed > a.txt && git add -A && git commit -qm Own',
    // The next run resolves it.
    'true',
  ].join(' && ')
  await using ended = await runAgent(
    `if [ -e .second ] || git log -1 --format=%s | grep -q Own; then git checkout -q --theirs a.txt 2>/dev/null; git add -A; else ${conflict}; fi`,
  )
  expect(ended.task.error_annotation?.type).toBe('work_elsewhere')
  await app.client.call('tasks.recover', { task_id: ended.task.id, action: 'take_work' })
  const ready = await app.taskWhere(ended.task.id, (one) => isResting(one) && one.review_summary?.attempt_number === 2)
  expect(ready.status).toBe('review')
  const { items } = await app.client.call('tasks.executions', { task_id: ready.id })
  expect(items.some(({ prompt }) => prompt?.includes('a.txt'))).toBe(true)
  expect(await ended.repository.git(['stash', 'list'])).toBe('')
})

test.concurrent('says that empty work is empty, with the ignored files that the run wrote', async () => {
  await using ended = await runAgent('mkdir -p dist && echo built > dist/app.js')
  expect(await reviewOf(ended.task)).toMatchObject({ empty: true, ignored: ['dist/'] })
})

test.concurrent('waits for a person before it merges a base that was rewritten', async () => {
  const drop = async (repository: TestRepository) => {
    await repository.git(['reset', '-q', '--hard', 'HEAD~1'])
  }
  const prepare = (repository: TestRepository) => repository.commit('Secret', { 'secret.txt': 's\n' })
  await using ended = await runAgent(work, { prepare, meanwhile: drop })
  const [note] = await notesOf(ended.task)
  expect(note).toMatchObject({ kind: 'base_rewritten', subjects: ['Secret'] })
  expect(ended.task.review_passed_at).toBeNull()
  await app.client.call('tasks.update_branch', { task_id: ended.task.id, strategy: 'rebase' })
  const { files } = await app.client.call('tasks.diff', { task_id: ended.task.id, scope: 'branch' })
  expect(files.map(({ path }) => path)).toEqual(['work.txt'])
  expect((await merge(await app.client.call('tasks.get', { task_id: ended.task.id }))).status).toBe('done')
  expect(await ended.repository.git(['ls-tree', '--name-only', 'main'])).not.toContain('secret.txt')
})

test.concurrent('asks a person again where the base was rewritten after the review', async () => {
  const prepare = (repository: TestRepository) => repository.commit('Secret', { 'secret.txt': 's\n' })
  await using ended = await runAgent(work, { prepare })
  await ended.repository.git(['reset', '-q', '--hard', 'HEAD~1'])
  const { task } = ended
  const refused = await app.client
    .call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version })
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'review_not_ready' })
  expect(await notesOf(task)).toEqual([expect.objectContaining({ kind: 'base_rewritten' })])
  expect((await merge(await app.client.call('tasks.get', { task_id: task.id }))).status).toBe('done')
})

test.concurrent('keeps the folder of a worktree whose record and link are both gone until a person decides', async () => {
  await using ended = await runAgent('echo work > work.txt && R=$(git rev-parse --git-dir) && rm .git && rm -rf "$R"')
  expect(existsSync(join(ended.path, 'work.txt'))).toBe(true)
  await rm(join(ended.path, 'work.txt'))
})
