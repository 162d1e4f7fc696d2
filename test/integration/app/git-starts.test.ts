import { afterEach, expect, test } from 'vitest'
import { startGitBy, startGitHere } from '../../../src-main/git/process/start-git.ts'
import { startJob } from '../../helpers/job.ts'

afterEach(() => startGitBy())

test('takes the files of a worktree up twice at the end of a run, whatever is asked of them', async () => {
  await using job = await startJob()
  const task = await job.task()
  const agent = await job.agent('echo work > work.txt')
  let taken = 0
  startGitBy((start, ...rest) => {
    if (start.args.includes('--all')) taken += 1
    return startGitHere(start, ...rest)
  })
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  // Once to tell what the run changed, once for the tree that is judged: the diff and what is noted of it share an index.
  expect(taken).toBe(2)
})
