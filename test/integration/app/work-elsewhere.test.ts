import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WorkPlace } from '../../../src-shared/contract/tasks.ts'
import type { TestRepository } from '../../helpers/git-repository.ts'
import { isResting, startWandering, work } from '../../helpers/wandering-agent.ts'

let wandering: Awaited<ReturnType<typeof startWandering>>
beforeAll(async () => {
  wandering = await startWandering()
})
afterAll(async () => {
  await wandering.app[Symbol.asyncDispose]()
})

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
  await using ended = await wandering.runAgent(command)
  const { task, repository, branch, path } = ended
  expect(task).toMatchObject({ status: 'review', error_annotation: null })
  expect(await repository.git(['symbolic-ref', 'HEAD'], { cwd: path })).toBe(`refs/heads/${branch}`)
  const { files } = await wandering.app.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(files.map((file) => file.path)).toContain('work.txt')
  expect((await wandering.merge(task)).status).toBe('done')
  expect(await repository.git(['show', 'main:work.txt'])).toBe('work')
})

test.concurrent('says at the review from where work was taken', async () => {
  await using ended = await wandering.runAgent(`git switch -qc feature && ${work}`)
  expect(await wandering.notesOf(ended.task)).toEqual([{ kind: 'work_taken', from: 'refs/heads/feature', commits: 1 }])
  expect((await wandering.reviewOf(ended.task)).status).toBe('passed')
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
  await using ended = await wandering.runAgent(command)
  const { task, repository } = ended
  expect(task.error_annotation).toMatchObject({
    type: 'work_elsewhere',
    recovery_actions: ['take_work', 'leave_work'],
    places: [expect.objectContaining({ kind })],
  })
  expect(task.status).toBe('review')
  expect((await wandering.reviewOf(task)).status).toBe('pending')
  expect(
    (await wandering.app.client.call('tasks.transitions', { task_id: task.id })).items.some((one) => one.rejection),
  ).toBe(false)
  const ready = await wandering.recover(task, 'take_work')
  expect(ready.error_annotation).toBeNull()
  expect((await wandering.merge(ready)).status).toBe('done')
  expect(await repository.git(['show', 'main:work.txt'])).toContain('work')
  expect(await repository.git(['show', 'main:a.txt'])).toBe('one\ntwo\nthree')
  expect(await repository.git(['stash', 'list'])).toBe('')
})

test.concurrent.for(Object.entries(held))('leaves out %s, kept as a rescue', async ([, [command, kind]]) => {
  await using ended = await wandering.runAgent(command)
  const { repository } = ended
  const ready = await wandering.recover(ended.task, 'leave_work')
  expect(ready.error_annotation).toBeNull()
  expect(await repository.git(['stash', 'list'])).toBe('')
  if (kind === 'link') return
  const { items } = await wandering.app.client.call('rescues.of_task', { task_id: ready.id })
  expect(items.length).toBeGreaterThan(0)
  const kept = await Promise.all(items.map(({ ref }) => repository.git(['ls-tree', '-r', '--name-only', ref])))
  const untracked = await Promise.all(
    items.map(({ ref }) => repository.git(['ls-tree', '-r', '--name-only', `${ref}^3`]).catch(() => '')),
  )
  expect([...kept, ...untracked].join('\n')).toContain('work.txt')
  const { files } = await wandering.app.client.call('tasks.diff', { task_id: ready.id, scope: 'branch' })
  expect(files.some(({ path }) => path === 'b.txt')).toBe(false)
})

test.concurrent('refuses the diff of a worktree whose .git file is gone', async () => {
  await using ended = await wandering.runAgent('echo work > work.txt && rm .git')
  const refused = await wandering.app.client
    .call('tasks.diff', { task_id: ended.task.id, scope: 'branch' })
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'workspace_failed' })
})

test.concurrent('leaves the user’s stash alone when the agent stashes in the same second', async () => {
  const meanwhile = async (repository: TestRepository) => {
    await repository.write({ 'a.txt': 'mine\n' })
    await repository.git(['stash', 'push', '-q'])
  }
  await using ended = await wandering.runAgent('echo work > work.txt && git stash push -qu', { meanwhile })
  expect(ended.task.error_annotation?.places).toEqual([
    expect.objectContaining({ kind: 'stash', commits: 1, files: 1 }),
  ])
  const ready = await wandering.recover(ended.task, 'take_work')
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
  await using ended = await wandering.runAgent(all)
  const kinds = ended.task.error_annotation?.places?.map(({ kind }) => kind)
  expect(kinds?.toSorted()).toEqual(['branch', 'branch', 'stash'])
  const ready = await wandering.recover(ended.task, 'take_work')
  expect(ready.error_annotation).toBeNull()
  expect((await wandering.merge(ready)).status).toBe('done')
  const files = await ended.repository.git(['ls-tree', '--name-only', 'main'])
  expect(files.split('\n')).toEqual(expect.arrayContaining(['left.txt', 'stashed.txt', 'work.txt']))
})

test.concurrent('only notes a branch that the agent left beside its own work', async () => {
  await using ended = await wandering.runAgent(
    `git switch -qc spike && ${work} && git switch -q $B && echo own > own.txt`,
  )
  expect(await wandering.notesOf(ended.task)).toEqual([{ kind: 'work_left', ref: 'refs/heads/spike', commits: 1 }])
  expect(ended.task.review_passed_at).not.toBeNull()
})

test.concurrent('gives the coder what conflicts', async () => {
  const conflict = [
    'echo stashed > a.txt && git stash push -q',
    'echo committed > a.txt && git add -A && git commit -qm Own',
    // The next run resolves it.
    'true',
  ].join(' && ')
  await using ended = await wandering.runAgent(
    `if [ -e .second ] || git log -1 --format=%s | grep -q Own; then git checkout -q --theirs a.txt 2>/dev/null; git add -A; else ${conflict}; fi`,
  )
  expect(ended.task.error_annotation?.type).toBe('work_elsewhere')
  await wandering.app.client.call('tasks.recover', { task_id: ended.task.id, action: 'take_work' })
  const ready = await wandering.app.taskWhere(
    ended.task.id,
    (one) => isResting(one) && one.review_summary?.attempt_number === 2,
  )
  expect(ready.status).toBe('review')
  const { items } = await wandering.app.client.call('tasks.executions', { task_id: ready.id })
  expect(items.some(({ prompt }) => prompt?.includes('a.txt'))).toBe(true)
  expect(await ended.repository.git(['stash', 'list'])).toBe('')
})

test.concurrent('says that empty work is empty, with the ignored files that the run wrote', async () => {
  await using ended = await wandering.runAgent('mkdir -p dist && echo built > dist/wandering.app.js')
  expect(await wandering.reviewOf(ended.task)).toMatchObject({ empty: true, ignored: ['dist/'] })
})
