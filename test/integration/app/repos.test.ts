import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { RepoId } from '../../../src-shared/contract/ids.ts'
import type { Repo } from '../../../src-shared/contract/projects.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { ordered } from '../../helpers/worked-parent.ts'

const add = (job: Job, path: string, more: Partial<OperationInput<'repos.add'>> = {}): Promise<Repo> =>
  job.running.client.call('repos.add', { project_id: job.project.id, path, ...more })
const list = async (job: Job) => (await job.running.client.call('repos.list', { project_id: job.project.id })).items
const update = (job: Job, repo: Pick<Repo, 'id'>, patch: object): Promise<Repo> =>
  job.running.client.call('repos.update', { project_id: job.project.id, repo_id: repo.id, ...patch })
const remove = (job: Job, repo: Pick<Repo, 'id'>) =>
  job.running.client.call('repos.remove', { project_id: job.project.id, repo_id: repo.id })
const primaryOf = (job: Job): Repo => {
  const [repo] = job.project.repos
  if (!repo) throw new Error('The project has no repository.')
  return repo
}
const issueOf = async (call: Promise<unknown>) => {
  const { code, details } = await refused(call)
  return [code, (details?.['issues'] as { path: string }[] | undefined)?.[0]?.path]
}
const failed = (job: Job, task_id: string) => job.running.taskWhere(task_id, (one) => one.error_annotation !== null)

test.concurrent('lists, adds, changes and removes several repositories of a project', async () => {
  await using job = await startJob()
  await using other = await createTestRepository({ files: { 'other.txt': 'other\n' } })
  await other.git(['branch', 'next'])
  const first = primaryOf(job)
  const second = await add(job, join(other.path, '.'), { name: 'Other', default_branch: 'next' })
  expect(second).toEqual({ id: second.id, name: 'Other', path: other.path, default_branch: 'next', is_primary: false })
  expect(await list(job)).toEqual([
    { ...first, problem: null },
    { ...second, problem: null },
  ])
  const changed = await update(job, second, { name: 'Second', default_branch: 'main', is_primary: true })
  expect(changed).toEqual({ ...second, name: 'Second', default_branch: 'main', is_primary: true })
  const project = await job.running.client.call('projects.get', { project_id: job.project.id })
  expect(project.repos).toEqual([changed, { ...first, is_primary: false }])
  expect((await job.task()).repo_id).toBe(second.id)
  await remove(job, first)
  expect((await list(job)).map((one) => one.id)).toEqual([second.id])
  expect(existsSync(join(job.repository.path, '.git'))).toBe(true)
})

test.concurrent('refuses an unsuitable repository, and changes nothing', async () => {
  await using job = await startJob()
  await using other = await createTestRepository()
  const first = primaryOf(job)
  const folder = await mkdtemp(join(tmpdir(), 'copse-no-repository-'))
  try {
    expect(await refusalOf(add(job, folder))).toBe('not_a_git_repository')
    expect(await issueOf(add(job, job.repository.path))).toEqual(['validation_failed', 'path'])
    expect(await issueOf(add(job, other.path, { default_branch: 'nowhere' }))).toEqual([
      'validation_failed',
      'default_branch',
    ])
    expect(await issueOf(add(job, other.path, { name: first.name }))).toEqual(['validation_failed', 'name'])
    const second = await add(job, other.path, { name: 'Other' })
    expect(await issueOf(update(job, second, { name: first.name }))).toEqual(['validation_failed', 'name'])
    expect(await issueOf(update(job, second, { path: first.path }))).toEqual(['validation_failed', 'path'])
    expect(await issueOf(update(job, second, { default_branch: 'nowhere' }))).toEqual([
      'validation_failed',
      'default_branch',
    ])
    expect(await refusalOf(update(job, first, { is_primary: false }))).toBe('repo_in_use')
    expect(await refusalOf(remove(job, first))).toBe('repo_in_use')
    const unknown = { id: RepoId.parse(job.project.id) }
    expect([await refusalOf(update(job, unknown, {})), await refusalOf(remove(job, unknown))]).toEqual([
      'not_found',
      'not_found',
    ])
    expect(await list(job)).toEqual([first, second].map((repo) => ({ ...repo, problem: null })))
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.concurrent('gives two repositories with the same folder name different names', async () => {
  await using job = await startJob()
  await using other = await createTestRepository()
  const path = join(other.path, primaryOf(job).name)
  await other.git(['clone', '-q', other.path, path])
  expect((await add(job, path)).name).toBe(`${primaryOf(job).name}-2`)
})

test.concurrent('works in the repository that a task names: worktree, CI, diff and merge', async () => {
  await using job = await startJob()
  await using other = await createTestRepository({ files: { 'other.txt': 'other\n' } })
  const second = await add(job, other.path, { name: 'Other' })
  const task = await job.task({ repo_id: second.id, review_config: { ci_steps: ['test -f other.txt'] } })
  expect(task.repo_id).toBe(second.id)
  const before = await job.repository.git(['rev-parse', 'main'])
  await job.claim(task, await job.agent('cat other.txt > seen.txt; basename "$SVC_REPO_PATH" >> seen.txt; echo done'))
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { version } = reviewed
  await job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(await other.git(['show', 'main:seen.txt'])).toMatch(/^other\n/)
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(before)
  expect(await refusalOf(remove(job, second))).toBe('repo_in_use')
})

test.concurrent('lets a task change its repository until it has a worktree, with its ordered subtasks', async () => {
  await using job = await startJob()
  await using other = await createTestRepository()
  await using stranger = await startJob()
  const { client } = job.running
  const second = await add(job, other.path, { name: 'Other' })
  const move = (task_id: string, repo_id: string) =>
    client.call('tasks.update', { task_id, repo_id } as OperationInput<'tasks.update'>)
  const task = await job.task()
  const child = await job.task(ordered(task))
  const own = await job.task({ parent_id: task.id })
  expect(await issueOf(move(child.id, second.id))).toEqual(['validation_failed', 'repo_id'])
  expect(await issueOf(move(task.id, primaryOf(stranger).id))).toEqual(['validation_failed', 'repo_id'])
  expect(await move(task.id, second.id)).toMatchObject({ repo_id: second.id, version: task.version + 1 })
  const read = async (task_id: string) =>
    (await client.call('tasks.get', { task_id } as { task_id: typeof task.id })).repo_id
  expect([await read(child.id), await read(own.id)]).toEqual([second.id, primaryOf(job).id])

  const agent = await job.agent('echo work > work.txt; exit 1')
  await job.claim(task, agent)
  await failed(job, task.id)
  const { branch } = await client.call('tasks.workspace', { task_id: task.id })
  expect(await refused(move(task.id, primaryOf(job).id))).toMatchObject({ code: 'repo_in_use', details: { branch } })
  // By the path that it names.
  await client.call('tasks.assign_role', {
    task_id: task.id,
    role: 'coder',
    agent_id: agent.id,
    reset_workspace: true,
  })
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    (workspace) => workspace.status === 'cleaned',
  )
  await move(task.id, primaryOf(job).id)
  expect(await read(child.id)).toBe(primaryOf(job).id)
  await job.claim(task, agent)
  await failed(job, task.id)
  expect(await job.repository.git(['branch', '--list', branch])).toContain(branch)
})

test.concurrent('reports a moved repository in its state and at a claim, and continues at the new place', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo more >> work.txt; exit 1')
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  await failed(job, task.id)
  const repo = primaryOf(job)
  const place = `${repo.path}-moved`
  await rename(repo.path, place)
  try {
    expect(await list(job)).toMatchObject([
      {
        path: repo.path,
        problem: { code: 'repository_missing', message: expect.stringContaining('update its path') as string },
      },
    ])
    await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
    const stuck = await job.running.taskWhere(
      task.id,
      (one) => one.error_annotation?.message.includes('No git repository at') === true,
    )
    expect(stuck.error_annotation).toMatchObject({
      message: expect.stringContaining('Settings, Repositories') as string,
    })

    expect(await update(job, repo, { path: place })).toEqual({ ...repo, path: place })
    expect(await list(job)).toMatchObject([{ path: place, problem: null }])
    // Without a claim: the worktree already leads there, and nothing in it is lost.
    expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({ path, dirty: true })
    expect(await job.repository.git(['-C', path, 'status', '--porcelain'], { cwd: place })).toContain('work.txt')
    await client.call('agents.update', {
      agent_id: agent.id,
      config: { command: 'cat work.txt > seen.txt; echo done' },
    })
    await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
    const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    const { version } = reviewed
    await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
    expect(await job.repository.git(['show', 'main:seen.txt'], { cwd: place })).toBe('more')
    expect(await job.repository.git(['fsck', '--no-progress'], { cwd: place })).toBe('')
  } finally {
    await rename(place, repo.path)
  }
})

test.concurrent('does not continue in a clone, a copy or another repository, or while an agent works', async () => {
  await using job = await startJob()
  await using other = await createTestRepository()
  const { client } = job.running
  const agent = await job.agent('echo precious > work.txt; exit 1')
  const task = await job.task({ title: 'Precious' })
  const { path } = await job.claim(task, agent)
  await failed(job, task.id)
  const repo = primaryOf(job)
  const copy = `${repo.path}-copy`
  await cp(repo.path, copy, { recursive: true })
  try {
    for (const elsewhere of [other.path, copy]) {
      const refusal = await refused(update(job, repo, { path: elsewhere }))
      expect(refusal).toMatchObject({ code: 'validation_failed', details: { tasks: [task.id] } })
      expect(refusal.message).toContain('“Precious”')
    }
    await client.call('agents.update', { agent_id: agent.id, config: { command: 'sleep 600' } })
    await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
    const running = await job.running.taskWhere(task.id, (one) => one.active_execution_id !== null)
    const execution_id = running.active_execution_id
    expect(await refused(update(job, repo, { path: copy }))).toMatchObject({
      code: 'project_busy',
      details: { executions: [execution_id] },
    })
    expect(await list(job)).toEqual([{ ...repo, problem: null }])
    expect(await readFile(join(path, 'work.txt'), 'utf8')).toBe('precious\n')
    await client.call('tasks.cancel', { task_id: task.id })
    // With its worktrees gone, it may be any repository.
    await client.call('tasks.clean_up_workspace', { task_id: task.id })
    expect(await update(job, repo, { path: copy })).toEqual({ ...repo, path: copy })
  } finally {
    await rm(copy, { recursive: true })
  }
})

test.concurrent('reports a repository whose base branch is gone, or that lies in another', async () => {
  await using job = await startJob()
  await using around = await createTestRepository()
  const repo = primaryOf(job)
  await job.repository.git(['branch', '-m', 'main', 'trunk'])
  expect(await list(job)).toMatchObject([{ problem: { code: 'branch_missing' } }])
  await update(job, repo, { default_branch: 'trunk' })
  expect(await list(job)).toMatchObject([{ default_branch: 'trunk', problem: null }])

  const inner = join(around.path, 'inner')
  await job.repository.git(['clone', '-q', job.repository.path, inner])
  const nested = await add(job, inner, { name: 'Nested' })
  await rm(join(inner, '.git'), { recursive: true })
  expect((await list(job))[1]).toMatchObject({ problem: { code: 'repository_missing' } })
  const task = await job.task({ repo_id: nested.id })
  expect(await refusalOf(job.claim(task, await job.agent('true')))).toBe('workspace_failed')
  const stuck = await failed(job, task.id)
  expect(stuck.error_annotation?.message).toContain(`No git repository at ${inner}`)
  expect(await around.git(['worktree', 'list'])).not.toContain(task.id)
})

test.concurrent('shows repositories to members, lets owners change them, and hides them from others', async () => {
  await using job = await startJob()
  await using other = await createTestRepository()
  const session = await job.running.clientWith(null).call('auth.register', {
    email: 'guest@copse.test',
    password: 'another horse',
    display_name: 'Guest',
  })
  const guest = job.running.clientWith(session.access_token)
  const project_id = job.project.id
  const repo_id = primaryOf(job).id
  expect(await refusalOf(guest.call('repos.list', { project_id }))).toBe('not_a_member')
  expect(await refusalOf(guest.call('repos.add', { project_id, path: other.path }))).toMatch(
    /not_a_member|owner_required/,
  )
  expect(await refusalOf(guest.call('repos.remove', { project_id, repo_id }))).toMatch(/not_a_member|owner_required/)
  expect(await list(job)).toHaveLength(1)
})

test.concurrent('finds paths on the base branch, including those of a new commit', async () => {
  await using job = await startJob({ files: { 'src/board/Board.vue': 'x', 'src/über.ts': 'x', 'docs/board.md': 'x' } })
  const { id: project_id } = job.project
  const find = async (q: string, more: object = {}) =>
    (await job.running.client.call('repos.paths', { project_id, q, ...more })).items
  expect(await find('board')).toEqual(['docs/board.md', 'src/board/Board.vue'])
  expect(await find('ÜBER')).toEqual(['src/über.ts'])
  expect(await find('board', { limit: 1, repo_id: primaryOf(job).id })).toEqual(['docs/board.md'])
  await job.repository.commit('Add a board', { 'board.txt': 'new' })
  expect(await find('board')).toEqual(['board.txt', 'docs/board.md', 'src/board/Board.vue'])
  expect(await refusalOf(find('x', { repo_id: project_id }))).toBe('not_found')
})
