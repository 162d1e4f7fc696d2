import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

/** What a program can write into a repository's configuration so that git reads nothing there, and what mends it. */
const plants: readonly (readonly [name: string, lines: string, told: RegExp])[] = [
  [
    'an unknown extension',
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tevil = true\n',
    /unset extensions\.evil/,
  ],
  ['a later version', '[core]\n\trepositoryformatversion = 9\n', /core\.repositoryformatversion 0/],
  ['a broken line', '[core\n', /line \d+ of .*config/],
]

test.concurrent.each(plants)('tells how to mend a repository that git cannot read: %s', async (_name, lines, told) => {
  await using job = await startJob()
  const agent = await job.agent('echo work > work.txt; echo done')
  const begun = await job.task()
  await job.claim(begun, agent)
  await job.running.taskWhere(begun.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const config = join(job.repository.path, '.git', 'config')
  await appendFile(config, lines)
  const { client } = job.running
  const task = await job.task()
  const said = await Promise.all([
    refused(client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })),
    refused(client.call('tasks.diff', { task_id: begun.id })),
  ])
  for (const { code, message } of said)
    expect([code, message]).toEqual(['workspace_failed', expect.stringMatching(told)])
})
