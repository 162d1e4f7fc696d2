import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'

const diligent =
  'echo one > one.txt; git add -A; git commit -qm One; echo two > two.txt; git add -A; git commit -qm Two; echo done'

const isAtRest = (task: Task): boolean =>
  task.active_execution_id === null &&
  (!task.entry_barrier || task.error_annotation !== null) &&
  task.status !== 'todo' &&
  task.status !== 'backlog'

/** A task whose first agent has committed twice; returns its branch and the second commit. */
async function worked(job: Job) {
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent(diligent))
  await job.running.taskWhere(task.id, isAtRest)
  const work = await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })
  const branch = await job.repository.git(['branch', '--show-current'], { cwd: path })
  return { task, path, work, branch }
}

/** The next coder runs this there. */
async function then(job: Job, task: Task, command: string): Promise<Task> {
  const { client } = job.running
  const agent = await job.agent(command, 'Unruly')
  await client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: agent.id })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  return await job.running.taskWhere(task.id, isAtRest)
}

/** The refs that lead to a commit. */
const leadingTo = async ({ repository }: Job, commit: string): Promise<string> =>
  await repository.git(['for-each-ref', `--contains=${commit}`, '--format=%(refname)'])

test.concurrent.each([
  ['amends', 'git commit -q --amend -m Other; echo done'],
  ['resets', 'git reset -q --hard HEAD~2; echo other > other.txt; echo done'],
  ['rebases', 'git rebase -q --onto HEAD~2 HEAD~1; echo done'],
  [
    'deletes the branch of',
    'B=$(git branch --show-current); git switch -q --detach HEAD~1; git branch -q -D "$B"; echo done',
  ],
  [
    'goes to another branch from',
    'git switch -q -c other HEAD~1; echo other > other.txt; git add -A; git commit -qm Other; echo done',
  ],
])('keeps what another had committed when an agent %s', async (_name, command) => {
  await using job = await startJob()
  const { client } = job.running
  const { task, path, work } = await worked(job)
  await then(job, task, `${command}; echo late > late.txt`)
  const head = await job.repository.git(['rev-parse', 'HEAD'], { cwd: path })
  await client.call('tasks.cancel', { task_id: task.id })
  await job.running.taskWhere(task.id, (one) => one.status === 'cancelled' && !one.entry_barrier)
  await client.call('tasks.clean_up_workspace', { task_id: task.id })
  expect(await leadingTo(job, work)).not.toBe('')
  expect(await leadingTo(job, head)).not.toBe('')
  const { items } = await client.call('rescues.of_task', { task_id: task.id })
  const kept = await Promise.all(
    items.map(({ ref }) => job.repository.git(['show', `${ref}:late.txt`]).catch(() => null)),
  )
  expect(kept).toContain('late')
  expect(await job.repository.git(['fsck', '--no-dangling', '--no-progress'])).toBe('')
})

test.concurrent('judges and merges what the agent committed on a branch of its own', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { task } = await worked(job)
  await then(job, task, 'git switch -q -c other; echo other > other.txt; git add -A; git commit -qm Other; echo done')
  const { version, status } = await client.call('tasks.get', { task_id: task.id })
  expect(status).toBe('review')
  const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(diff.files.map((file) => file.path)).toEqual(['one.txt', 'other.txt', 'two.txt'])
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(await job.repository.git(['ls-tree', '--name-only', 'main'])).toBe('README.md\none.txt\nother.txt\ntwo.txt')
  expect(await job.repository.git(['show', 'other:other.txt'])).toBe('other')
})

test.concurrent('brings uncommitted work on another branch back to the task’s', async () => {
  await using job = await startJob()
  const { task, path, branch } = await worked(job)
  const left = await then(job, task, 'git switch -q -c other; echo other > other.txt; echo done')
  expect(left).toMatchObject({ status: 'review', error_annotation: null })
  expect(await readFile(join(path, 'other.txt'), 'utf8')).toBe('other\n')
  expect(await job.repository.git(['branch', '--show-current'], { cwd: path })).toBe(branch)
})

test.concurrent('creates a worktree again that its agent deleted, with all commits', async () => {
  await using job = await startJob()
  const { task, path, work } = await worked(job)
  await then(job, task, 'rm -rf "$PWD"; echo done')
  expect(await leadingTo(job, work)).not.toBe('')
  const { status } = await then(job, task, 'cat two.txt > three.txt; echo done')
  expect(status).toBe('review')
  expect(await readFile(join(path, 'three.txt'), 'utf8')).toBe('two\n')
})
