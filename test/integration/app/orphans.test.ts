import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

const said = 'directories under the workspace root belong to no task; they are left alone'
const rootOf = (job: Job) => join(job.running.dataDir, 'workspaces', job.project.id)

/** A worktree of the project's repository beside those of tasks, with committed and uncommitted work. */
async function leftWorktree(job: Job, name = 'left-over', branch = 'svc/fix-the-login-1a2b3c4d'): Promise<string> {
  const path = join(rootOf(job), name)
  await job.repository.git(['worktree', 'add', '-q', '-b', branch, path])
  await job.repository.commit('Half of it', { 'half.txt': 'half\n' }, path)
  await writeFile(join(path, 'rest.txt'), 'rest\n')
  return path
}

const orphans = async (job: Job) => (await job.running.client.call('orphans.list', {})).items

test.concurrent('worktree rule 8: lists orphans in the log and the API, and never deletes them by itself', async () => {
  const { log, lines, line } = createLogLines()
  await using job = await startJob({ log })
  const task = await job.task()
  const { path: known } = await job.claim(task, await job.agent('exit 1'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const worktree = await leftWorktree(job)
  const folder = join(rootOf(job), 'notes')
  await mkdir(folder)
  await writeFile(join(folder, 'a.txt'), 'a\n')
  expect(lines.filter((one) => one.msg === said)).toEqual([])
  for (let start = 1; start <= 2; start += 1) {
    job.running = await job.running.restart()
    expect((await line(said))['paths']).toEqual([worktree, folder])
    expect(lines.filter((one) => one.msg === said)).toHaveLength(start)
  }
  expect(await orphans(job)).toEqual([
    expect.objectContaining({
      path: worktree,
      kind: 'worktree',
      branch: 'svc/fix-the-login-1a2b3c4d',
      repo_path: job.repository.path,
      dirty: true,
      size_complete: true,
    }),
    expect.objectContaining({ path: folder, kind: 'folder', branch: null, repo_path: null, size_bytes: 2 }),
  ])
  expect([known, worktree, folder].map((path) => existsSync(path))).toEqual([true, true, true])
})

test.concurrent('adopts an orphan as a task’s worktree, with its branch and files', async () => {
  await using job = await startJob()
  const { client } = job.running
  const path = await leftWorktree(job)
  const adopt = { path, project_id: job.project.id }
  const task = await client.call('orphans.adopt', adopt)
  expect(task).toMatchObject({ project_id: job.project.id, title: 'Fix the login' })
  expect(await orphans(job)).toEqual([])
  expect(await refusalOf(client.call('orphans.adopt', adopt))).toBe('not_found')
  expect(await refusalOf(client.call('orphans.remove', { path }))).toBe('not_found')
  const base = await job.repository.git(['rev-parse', 'main'])
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({
    status: 'ready',
    path,
    branch: 'svc/fix-the-login-1a2b3c4d',
    base_branch: 'main',
    base_commit: base,
    dirty: true,
    ahead: 1,
    behind: 0,
  })
  const { path: claimed } = await job.claim(task, await job.agent('cat half.txt rest.txt > seen.txt; echo done'))
  expect(claimed).toBe(path)
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { version } = reviewed
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(await job.repository.git(['show', 'main:seen.txt'])).toBe('half\nrest')
})

test.concurrent('says why one can’t be adopted, and creates no task', async () => {
  await using job = await startJob()
  await using other = await startJob()
  const { client } = job.running
  const adopt = (path: string, project_id = job.project.id) =>
    refused(client.call('orphans.adopt', { path, project_id }))
  const path = await leftWorktree(job)
  const detached = await leftWorktree(job, 'detached', 'svc/other')
  await job.repository.git(['switch', '-q', '--detach'], { cwd: detached })
  const folder = join(rootOf(job), 'folder')
  await mkdir(folder)
  expect((await adopt(detached)).message).toContain('git switch -c')
  expect((await adopt(folder)).message).toContain("isn't a worktree")
  expect((await adopt(job.repository.path)).code).toBe('not_found')
  const elsewhere = await client.call('projects.create', { name: 'Other', repo_path: other.repository.path })
  expect(await adopt(path, elsewhere.id)).toMatchObject({ code: 'validation_failed', details: { issues: [{}] } })
  for (const project_id of [job.project.id, elsewhere.id]) {
    expect((await client.call('tasks.list', { project_id })).items).toEqual([])
  }
  expect(await orphans(job)).toHaveLength(3)
})

test.concurrent('keeps a removed orphan’s branch and work', async () => {
  await using job = await startJob()
  const { client } = job.running
  const path = await leftWorktree(job)
  const removed = await client.call('orphans.remove', { path })
  expect(removed).toEqual({ path, rescues: [expect.stringMatching(/^refs\/svc\/rescue\/left-over\//)], moved_to: null })
  expect(existsSync(path)).toBe(false)
  expect(await job.repository.git(['show', 'svc/fix-the-login-1a2b3c4d:half.txt'])).toBe('half')
  const { items } = await client.call('rescues.of_project', { project_id: job.project.id })
  expect(items).toMatchObject([{ task_id: 'left-over', kind: 'uncommitted', files: 1, reason: 'removal' }])
  const [{ timestamp = '' } = {}] = items
  const name = { project_id: job.project.id, of_task: 'left-over', timestamp }
  const restored = await client.call('rescues.restore_in_project', name)
  expect(await job.repository.git(['show', `${restored.branch}:rest.txt`])).toBe('rest')
})

test.concurrent('keeps a plain folder’s files in its project’s repository, and leaves one that contains a repository', async () => {
  await using job = await startJob()
  const { client } = job.running
  const folder = join(rootOf(job), 'notes')
  await job.repository.write({ 'deep/a.txt': 'a\n' }, folder)
  const { rescues } = await client.call('orphans.remove', { path: folder })
  expect(existsSync(folder)).toBe(false)
  expect(await job.repository.git(['show', `${rescues[0] ?? ''}:deep/a.txt`])).toBe('a')

  const nested = join(rootOf(job), 'nested')
  await job.repository.write({ 'b.txt': 'b\n' }, nested)
  await job.repository.git(['init', '-q', join(nested, 'inner')])
  const homeless = join(job.running.dataDir, 'workspaces', 'no project', 'task')
  await job.repository.write({ 'c.txt': 'c\n' }, homeless)
  for (const path of [nested, homeless]) {
    expect(await refusalOf(client.call('orphans.remove', { path }))).toBe('not_a_git_repository')
  }
  expect(await readFile(join(nested, 'b.txt'), 'utf8')).toBe('b\n')
  expect(await readFile(join(homeless, 'c.txt'), 'utf8')).toBe('c\n')
})

test.concurrent('lists an orphan that a crash left incomplete, or whose repository is gone', async () => {
  await using job = await startJob()
  const broken = await leftWorktree(job, 'a-broken')
  const record = (await readFile(join(broken, '.git'), 'utf8')).slice('gitdir: '.length).trim()
  await writeFile(join(record, 'index'), 'cut o')
  const lost = await leftWorktree(job, 'b-lost', 'svc/lost')
  await writeFile(join(lost, '.git'), 'gitdir: /nowhere/at/all\n')
  expect(await orphans(job)).toMatchObject([
    { path: broken, kind: 'worktree', dirty: true },
    { path: lost, kind: 'folder', dirty: true },
  ])
  // Without an index the staged state is lost, but the files are there.
  expect(await refusalOf(job.running.client.call('orphans.remove', { path: broken }))).toBe('workspace_failed')
  expect(await readFile(join(broken, 'rest.txt'), 'utf8')).toBe('rest\n')
  await rm(lost, { recursive: true })
  expect(await orphans(job)).toHaveLength(1)
})

test.concurrent('lets only admins see, adopt and remove orphans', async () => {
  await using job = await startJob()
  const path = await leftWorktree(job)
  const session = await job.running.clientWith(null).call('auth.register', {
    email: 'guest@copse.test',
    password: 'another horse',
    display_name: 'Guest',
  })
  const guest = job.running.clientWith(session.access_token)
  expect(await refusalOf(guest.call('orphans.list', {}))).toBe('admin_required')
  expect(await refusalOf(guest.call('orphans.remove', { path }))).toBe('admin_required')
  expect(await refusalOf(guest.call('orphans.adopt', { path, project_id: job.project.id }))).toBe('admin_required')
  expect(existsSync(path)).toBe(true)
})
