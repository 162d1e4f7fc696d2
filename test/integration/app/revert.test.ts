import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { tokenOfRun } from '../../helpers/run-token.ts'

const start = () => startJob({ files: { 'shared.txt': 'base\n', 'other.txt': 'other\n' } })
const at = (job: Job, revision: string) => job.repository.git(['show', revision])

async function merge(job: Job, task_id: string): Promise<Task> {
  const { version } = await job.running.client.call('tasks.get', { task_id })
  return (await job.running.client.call('tasks.transition', { task_id, status: 'merging', version })).task
}

/** A task whose work was merged. */
async function merged(job: Job, command = 'echo theirs > shared.txt', more: Partial<Task> = {}): Promise<Task> {
  const ci = { review_config: { ci_steps: more.review_config?.ci_steps ?? [] } }
  const task = await job.task({ title: 'Change the shared line', ...ci })
  await job.claim(task, await job.agent(`${command}; echo done`))
  await passed(job, task.id)
  return await merge(job, task.id)
}

const passed = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.review_passed_at !== null && !one.entry_barrier)

const revert = (job: Job, task: Task, reason?: string) =>
  job.running.client.call('tasks.revert', { task_id: task.id, ...(reason !== undefined && { reason }) })

test.each(['merge', 'squash', 'rebase'] as const)(
  'reverts a %s on a branch of its own, which is reviewed and lands; and that again',
  async (merge_strategy) => {
    await using job = await start()
    const { client } = job.running
    await job.settings({ merge_strategy })
    const review_config = { ci_steps: ['test -e other.txt'], review_prompt: null }
    const first = await merged(job, 'echo one > one.txt; git add .; git commit -qm One; echo theirs > shared.txt', {
      review_config,
    })
    const landed = await job.repository.commit('Later', { 'other.txt': 'later\n' })

    const back = await revert(job, first, 'It broke the shop.')

    expect(back).toMatchObject({
      title: 'Revert “Change the shared line”',
      reverts: first.id,
      roles: first.roles,
      review_config,
    })
    expect(back.description).toContain(`Take back what ${first.ref} merged into main as`)
    expect(back.description).toContain('It broke the shop.')
    const ready = await passed(job, back.id)
    expect(ready).toMatchObject({ status: 'review', review_summary: { steps: ['passed'] } })
    expect(await job.repository.git(['rev-parse', 'main'])).toBe(landed)
    const { path } = await client.call('tasks.workspace', { task_id: back.id })
    expect(await readFile(join(path, 'shared.txt'), 'utf8')).toBe('base\n')
    const diff = await client.call('tasks.diff', { task_id: back.id, scope: 'branch' })
    expect(diff.files.map((file) => file.path).sort()).toEqual(['one.txt', 'shared.txt'])
    expect(await merge(job, back.id)).toMatchObject({ status: 'done' })
    expect(await at(job, 'main:shared.txt')).toBe('base')
    expect(await at(job, 'main:other.txt')).toBe('later')
    expect(await refused(revert(job, first))).toMatchObject({ code: 'nothing_to_revert', status: 409 })

    const again = await revert(job, await client.call('tasks.get', { task_id: back.id }))
    expect(again).toMatchObject({ title: 'Reapply “Change the shared line”', reverts: back.id })
    await passed(job, again.id)
    await merge(job, again.id)
    expect(await at(job, 'main:shared.txt')).toBe('theirs')
  },
)

test('gives a revert that conflicts to the coder, with the command to begin with', async () => {
  await using job = await start()
  const { client } = job.running
  const first = await merged(job)
  await job.repository.commit('On top', { 'shared.txt': 'mine on top\n' })
  const agent_id = first.roles['coder']?.id ?? ''
  const command = 'cat > ../prompt.txt; echo resolved > shared.txt; git commit -qam Resolved; echo done'
  await client.call('agents.update', { agent_id, config: { command } })

  const back = await revert(job, first)

  expect(back.description).toContain('Reverting it conflicts in shared.txt. Run `git revert -m 1 ')
  await passed(job, back.id)
  expect((await job.executions(back.id)).map(({ status, role }) => [status, role])).toEqual([['succeeded', 'coder']])
  await merge(job, back.id)
  expect(await at(job, 'main:shared.txt')).toBe('resolved')
})

test('reverts only what has landed, and only for people', async () => {
  await using job = await start()
  const task = await job.task()
  expect(await refused(revert(job, task))).toMatchObject({
    code: 'nothing_to_revert',
    message: 'This task has no merge that Copse knows, so there is nothing to revert.',
  })
  const done = await merged(job)
  const token = await tokenOfRun(job)
  const asAgent = job.running.clientWith(token).call('tasks.revert', { task_id: done.id })
  expect(await refused(asAgent)).toMatchObject({ code: 'humans_only' })
})
