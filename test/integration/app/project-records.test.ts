import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src-main/store/database.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { addManyTasks } from '../../helpers/many-tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { runApp } from '../../helpers/running-app.ts'
import { migrations } from '../store/open-store.ts'
import { present } from '../../helpers/present.ts'

/** A project with a task whose agent has committed work and failed; and its branch. */
async function worked(job: Job): Promise<{ path: string; branch: string }> {
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('echo w > w.txt; git add -A; git commit -qm Work; exit 1'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const { branch } = await job.running.client.call('tasks.workspace', { task_id: task.id })
  return { path, branch }
}

test.concurrent('leaves the repository and task branches alone when a project is deleted', async () => {
  await using job = await startJob()
  const { path, branch } = await worked(job)
  const before = await job.repository.git(['for-each-ref'])
  await job.running.client.call('projects.delete', { project_id: job.project.id })
  expect(await job.repository.git(['for-each-ref'])).toBe(before)
  expect(before).toContain(`refs/heads/${branch}`)
  expect(existsSync(join(path, 'w.txt'))).toBe(true)
})

test.concurrent('removes only worktrees and task branches with delete_branches', async ({ expect }) => {
  await using job = await startJob()
  const { path } = await worked(job)
  await job.repository.git(['branch', 'mine'])
  await job.repository.write({ 'loose.txt': 'mine\n' })
  await job.running.client.call('projects.delete', { project_id: job.project.id, delete_branches: true })
  const branches = async () =>
    (await job.repository.git(['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).split('\n').toSorted()
  await expect.poll(branches).toEqual(['main', 'mine'])
  expect(existsSync(path)).toBe(false)
  expect(await readFile(join(job.repository.path, 'loose.txt'), 'utf8')).toBe('mine\n')
})

test.concurrent('hides a deleted project at once, and removes its rows gradually, also across a restart', async ({
  expect,
}) => {
  const job = await startJob({ keepData: true })
  const { dataDir } = job.running
  const project_id = job.project.id
  const at = join(dataDir, 'copse.db')
  await job.running.app.close()
  const filled = await openDatabase(at, migrations)
  addManyTasks(filled.db.$client, { project_id, count: 4_000, promptBytes: 100 })
  filled.close()
  job.running = await job.running.restart()
  const { client } = job.running
  const [first] = (await client.call('tasks.list', { project_id })).items
  const task_id = first?.id ?? ('' as never)
  await client.call('projects.delete', { project_id })
  const gone = [
    client.call('projects.get', { project_id }),
    client.call('tasks.list', { project_id }),
    client.call('tasks.get', { task_id }),
    client.call('comments.list', { task_id }),
    client.call('projects.delete', { project_id }),
  ]
  expect(await Promise.all(gone.map(async (asked) => (await refused(asked)).code))).toEqual(gone.map(() => 'not_found'))
  expect((await client.call('projects.list', {})).items).toEqual([])
  job.running = await job.running.restart()
  const look = new SqliteDatabase(at, { readonly: true })
  const rows = (table: string) => look.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  expect(rows('tasks')).toBeGreaterThan(0)
  await expect.poll(() => rows('projects'), { timeout: 200_000 }).toBe(0)
  const tables = [
    'tasks',
    'transitions',
    'executions',
    'reviews',
    'comments',
    'task_words',
    'usage_sums',
    'task_numbers',
    'repos',
  ]
  expect(tables.map((table) => [table, rows(table)])).toEqual(tables.map((table) => [table, 0]))
  look.close()
  await job[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true })
})

test.concurrent('does not delete a project with running work', async () => {
  await using job = await startJob()
  const { execution } = await job.running.client.call('tasks.claim', { task_id: (await job.task()).id })
  const refusal = await refused(job.running.client.call('projects.delete', { project_id: job.project.id }))
  expect([refusal.code, refusal.status, refusal.details]).toEqual([
    'project_busy',
    409,
    { executions: [present(execution).id] },
  ])
})

test.concurrent.each([
  ['a misspelt key', { merge_stratgy: 'squash' }, 'merge_stratgy', 'Did you mean merge_strategy?'],
  ['a misspelt key further in', { knowledge: { enable: false } }, 'knowledge.enable', 'Did you mean enabled?'],
  ['a branch prefix that is an option', { branch_prefix: '-f' }, 'branch_prefix', '“-”'],
  ['a branch prefix that git takes in no name', { branch_prefix: 'my tasks/' }, 'branch_prefix', 'Git takes no'],
  ['a set-up command that is empty', { setup_commands: ['  '] }, 'setup_commands.0', 'empty command'],
  ['files from outside', { copy_files: ['../../etc/passwd'] }, 'copy_files.0', 'relative'],
  ['files by their absolute path', { copy_files: ['/etc/passwd'] }, 'copy_files.0', 'relative'],
  ['files of git', { copy_files: ['.env', '.git/config'] }, 'copy_files.1', '.git'],
])('refuses %s in settings, and changes nothing', async (_what, patch, path, words) => {
  await using job = await startJob()
  const { client } = job.running
  const project_id = job.project.id
  const before = await client.call('projects.get_settings', { project_id })
  const wrong = { project_id, ci_step_timeout_seconds: 5, ...patch }
  const refusal = await refused(client.call('projects.update_settings', wrong as never))
  expect([refusal.code, refusal.status]).toEqual(['validation_failed', 400])
  expect(refusal.message).toContain(words)
  expect((refusal.details as { issues: { path: string }[] }).issues[0]?.path).toBe(path)
  expect(await client.call('projects.get_settings', { project_id })).toEqual(before)
})

test.concurrent('keeps unknown keys of a workflow, and reports them', async () => {
  await using job = await startJob()
  const { client } = job.running
  const project_id = job.project.id
  const standard = await client.call('projects.get_workflow', { project_id })
  const [first, ...rest] = standard.states
  const odd = { ...standard, author: 'me', states: [{ ...first, lable: 'Backlog', wip: 3 }, ...rest] }
  const workflow_definition = JSON.stringify(odd)
  const updated = await client.call('projects.update', { project_id, workflow_definition })
  expect(updated.warnings?.map(({ path }) => path)).toEqual(['states.0.lable', 'states.0.wip', 'author'])
  expect(updated.warnings?.[0]?.message).toContain('Did you mean label?')
  const { workflow_definition: kept, warnings } = await client.call('projects.get', { project_id })
  expect([kept, warnings]).toEqual([workflow_definition, undefined])
  const walked = await client.call('projects.dry_run', { project_id, definition: odd })
  expect(walked.warnings).toEqual(updated.warnings)
  const put = await client.call('templates.put', { name: 'odd', definition: odd })
  expect(put.warnings).toEqual(updated.warnings)
})

test.concurrent('changes settings key by key, and nothing if one is invalid', async () => {
  await using job = await startJob()
  const { client } = job.running
  const project_id = job.project.id
  const before = await client.call('projects.get_settings', { project_id })
  const changed = await client.call('projects.update_settings', { project_id, merge_strategy: 'squash' })
  expect(changed).toEqual({ ...before, merge_strategy: 'squash' })
  const pattern = client.call('projects.update_settings', {
    project_id,
    branch_prefix: 'x/',
    redaction_patterns: ['('],
  })
  expect(await refused(pattern)).toMatchObject({
    code: 'validation_failed',
    details: { issues: [{ path: 'redaction_patterns.0' }] },
  })
  expect(await refusalOf(client.call('projects.update_settings', { project_id, max_concurrent_executions: 0 }))).toBe(
    'validation_failed',
  )
  expect(await client.call('projects.get_settings', { project_id })).toEqual(changed)
})

test.concurrent('tells an agent its identity, place and service, and CI steps the task’s', async () => {
  await using job = await startJob()
  const agent = await job.agent(
    'env | grep ^SVC_ | grep -v ^SVC_PROCESS_TREE= | sort > told.env; echo told.env > .gitignore',
  )
  const ci_steps = [
    'test "$SVC_TASK_TITLE" = "Tell it"',
    'cmp told.env "$SVC_WORKTREE_PATH/told.env"',
    'test -d "$SVC_REPO_PATH"',
  ]
  const task = await job.task({ title: 'Tell it', review_config: { ci_steps } })
  const { path, execution } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const lines = (await readFile(join(path, 'told.env'), 'utf8')).trim().split('\n')
  const told = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
  expect(told).toMatchObject({
    SVC_TASK_ID: task.id,
    SVC_TASK_TITLE: 'Tell it',
    SVC_PROJECT_ID: job.project.id,
    SVC_REPO_PATH: job.repository.path,
    SVC_WORKTREE_PATH: path,
    SVC_AGENT_ID: agent.id,
    SVC_EXECUTION_ID: execution.id,
    SVC_API_URL: job.running.url,
    SVC_API_TOKEN: expect.stringMatching(/^svc_[\w-]{43}$/) as string,
    // Nothing is known yet.
    SVC_KNOWLEDGE_FILE: '',
  })
})

test.concurrent('lists nearby repositories below the home folder, without those that are projects', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { home_dir } = await client.call('system.get', {})
  const { items } = await client.call('system.nearby_repositories', {})
  expect(items.filter(({ path }) => !path.startsWith(present(home_dir)))).toEqual([])
  const projects = (await client.call('projects.list', {})).items.flatMap(({ repos }) => repos.map(({ path }) => path))
  expect(items.filter(({ path }) => projects.includes(path))).toEqual([])
})

test.concurrent('creates the demo with a merged task, a conflict, a review, a question and a run', async () => {
  await using running = await runApp()
  const { client } = running
  const { project, agent, task, tasks } = await client.call('demo.create', {})
  expect(task).toEqual(tasks.merged)
  expect(tasks).toMatchObject({
    merged: { status: 'done', project_id: project.id, roles: { coder: { type: 'agent', id: agent.id } } },
    conflict: { status: 'review', review_summary: { status: 'passed' } },
    review: { status: 'review', review_summary: { status: 'passed' } },
    question: { status: 'in_progress' },
    running: { status: 'in_progress' },
  })
  await running.taskWhere(tasks.conflict.id, ({ base_conflict }) => base_conflict?.files[0] === 'till.sh')

  // What its agent does next, whatever a person does first.
  const execution_id = present(tasks.question.active_execution_id)
  const { asks: [ask] = [] } = await client.call('executions.get', { execution_id })
  expect(ask?.options.map(({ label }) => label)).toEqual(['Euro', 'Dollar'])
  await client.call('executions.answer', { execution_id, ask_id: present(ask).id, option_id: '2' })
  const { version } = tasks.review
  await client.call('tasks.verdict', { task_id: tasks.review.id, verdict: 'fail', feedback: 'No DEBUG.', version })
  await client.call('tasks.update_branch', { task_id: tasks.conflict.id, strategy: 'merge', on_conflict: 'agent' })
  const judged = (id: TaskId, attempt: number) =>
    running.taskWhere(
      id,
      ({ review_summary }) => review_summary?.status === 'passed' && review_summary.attempt_number === attempt,
    )
  await judged(tasks.question.id, 1)
  await judged(tasks.review.id, 2)
  await judged(tasks.conflict.id, 2)
  const lines = async (task_id: TaskId) => {
    const { branch } = await client.call('tasks.workspace', { task_id })
    return execFileSync('git', ['show', `${branch}:till.sh`], { cwd: present(project.repos[0]).path, encoding: 'utf8' })
  }
  expect(await lines(tasks.question.id)).toContain('echo "$item $price USD"')
  expect(await lines(tasks.review.id)).not.toContain('DEBUG')
  expect(await lines(tasks.conflict.id)).toMatch(/^echo "\$greeting, \$\{CUSTOMER:-friend\}!"$/m)
  await client.call('tasks.cancel', { task_id: tasks.running.id })
})
