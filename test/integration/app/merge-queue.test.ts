import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

const merge = (job: Job, task: Task) =>
  job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version })

/** A task whose work has passed review. */
async function reviewed(job: Job, command: string, more: { project_id?: string; title?: string } = {}): Promise<Task> {
  const task = await job.task({ title: 'Work', ...more })
  await job.claim(task, await job.agent(`${command}; echo done`))
  return job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

test.concurrent.each(['merge', 'squash', 'rebase'] as const)(
  'merges tasks of several projects on one repository (%s) one after the other',
  async (merge_strategy) => {
    await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
    const { client } = job.running
    const { repository } = job
    // The same repository by another path: one of its worktrees.
    const side = join(repository.beside, 'side')
    await repository.git(['worktree', 'add', '-q', '-b', 'side', side])
    const other = await client.call('projects.create', { name: 'Other', repo_path: side, default_branch: 'main' })
    for (const project_id of [job.project.id, other.id]) {
      await client.call('projects.update_settings', { project_id, merge_strategy })
    }
    const places = [job.project.id, other.id, job.project.id, other.id]
    const tasks = await Promise.all(
      places.map((project_id, index) =>
        reviewed(job, `echo ${index} > ${index}.txt`, { project_id, title: `T${index}` }),
      ),
    )
    const answers = await Promise.all(tasks.map((task) => merge(job, task)))
    expect(answers.map(({ task }) => task.status)).toEqual(['done', 'done', 'done', 'done'])
    expect(await repository.git(['ls-files'])).toBe('0.txt\n1.txt\n2.txt\n3.txt\nshared.txt')
    expect(await repository.git(['status', '--porcelain'])).toBe('')
    expect(await repository.git(['rev-list', '--count', '--first-parent', 'main'])).toBe('5')
    expect(await repository.git(['fsck', '--strict', '--no-dangling'])).toBe('')
  },
)

test.concurrent('merges one of two that change the same line, and reports the conflict of the other', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { client } = job.running
  const tasks = await Promise.all([
    reviewed(job, 'echo "one hunter2" > shared.txt'),
    reviewed(job, 'echo "two hunter2" > shared.txt'),
  ])
  // After the reviews, which would wait for a person with a secret in the work.
  await job.settings({ redaction_patterns: ['hunter[0-9]'] })
  const answers = await Promise.all(tasks.map((task) => merge(job, task)))
  expect(answers.map(({ task }) => task.status).toSorted()).toEqual(['done', 'merge_failed'])
  const failed = answers.find(({ task }) => task.status === 'merge_failed')?.task
  const [winner, loser] = failed?.id === tasks[0].id ? ['two', 'one'] : ['one', 'two']
  const { branch } = await client.call('tasks.workspace', { task_id: failed?.id ?? '' })
  expect(failed?.error_annotation).toEqual({
    type: 'merge_conflict',
    message: `One file conflicts with main. Let the agent resolve it, or resolve it on ${branch} and retry.`,
    files: ['shared.txt'],
    hunks: [
      {
        path: 'shared.txt',
        kind: 'content',
        line: 1,
        text: `<<<<<<< main\n${winner} [redacted]\n=======\n${loser} [redacted]\n>>>>>>> ${branch}\n`,
        truncated: false,
      },
    ],
    recovery_actions: ['retry_merge'],
  })
  expect(await job.repository.git(['show', 'main:shared.txt'])).toBe(`${winner} hunter2`)
  expect(await job.repository.git(['show', `${branch}:shared.txt`])).toBe(`${loser} hunter2`)
  // Trying again changes nothing without a resolution.
  const again = await client.call('tasks.recover', { task_id: failed?.id ?? '', action: 'retry_merge' })
  expect(again.task).toMatchObject({ status: 'merge_failed', error_annotation: { files: ['shared.txt'] } })
})

test.concurrent('keeps a task small after a conflict of a thousand places', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const lines = (word: string) =>
    `for i in $(seq 1 1000); do echo "${word} $i"; echo; echo; echo; echo; done > long.txt`
  const task = await reviewed(job, lines('theirs'))
  const mine = Array.from({ length: 1_000 }, (_, index) => `mine ${index + 1}\n\n\n\n\n`).join('')
  await job.repository.commit('Mine', { 'long.txt': mine })
  const failed = (await merge(job, task)).task
  const hunks = failed.error_annotation?.hunks ?? []
  expect(hunks.length).toBeGreaterThan(0)
  expect(hunks.length).toBeLessThanOrEqual(12)
  expect(JSON.stringify(failed).length).toBeLessThan(30_000)
  const all = await job.running.client.call('tasks.conflicts', { task_id: task.id })
  expect(all.hunks.length).toBeGreaterThan(hunks.length)
})

test.concurrent('merges nothing while the user rebases the target, and keeps the task where it was', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { repository } = job
  const task = await reviewed(job, 'echo new > new.txt')
  await repository.git(['switch', '-q', '-c', 'upstream'])
  await repository.commit('Upstream', { 'shared.txt': 'upstream\n' })
  await repository.git(['switch', '-q', 'main'])
  await repository.commit('Mine', { 'shared.txt': 'mine\n' })
  await repository.git(['rebase', '-q', 'upstream']).catch(() => undefined)
  const refusal = await refused(merge(job, task))
  expect(refusal).toMatchObject({ code: 'workspace_failed', status: 409 })
  expect(refusal.message).toContain('git rebase --continue')
  expect((await job.running.client.call('tasks.get', { task_id: task.id })).status).toBe('review')
  await repository.git(['rebase', '--abort'])
  expect((await merge(job, task)).task.status).toBe('done')
  expect(await repository.git(['log', '--format=%s', '-1', '--first-parent', 'main^'])).toBe('Mine')
})

test.concurrent('asks for a new review after an update, and merges what was judged', async () => {
  await using job = await startJob({ files: { 'shared.txt': 'base\n' } })
  const { client } = job.running
  const task = await reviewed(job, 'echo new > new.txt; git add .; git commit -qm New')
  await job.repository.commit('Meanwhile', { 'other.txt': 'other\n' })
  expect((await client.call('tasks.update_branch', { task_id: task.id })).outcome).toBe('updated')
  expect((await refused(merge(job, task))).code).toBe('review_not_ready')
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Check it with the base.' })
  const again = await job.running.taskWhere(
    task.id,
    (one) => one.review_passed_at !== null && one.status === 'review' && !one.entry_barrier,
  )
  expect((await merge(job, again)).task.status).toBe('done')
})
