import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suggestionBlock } from '../../../src-shared/contract/suggestions.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refused } from '../../helpers/refusal.ts'

const nine = Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('')
const files = { 'src/add.ts': nine, 'dos.txt': 'one\r\ntwo\r\n', 'last.txt': 'a\nb' }

/** A task in review, whose agent has left uncommitted work. */
async function reviewed(job: Job) {
  const task = await job.task()
  const agent = await job.agent(
    `sed -i 's/line 3/line three/' src/add.ts; git commit -qam Three; echo x > loose.txt; echo done`,
  )
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  return { task, path, git: (...args: string[]) => job.repository.git(['-C', path, ...args]) }
}
const suggest = (
  job: Job,
  task_id: string,
  lines: readonly string[],
  at: { path?: string; line: number; start_line?: number; side?: 'old' | 'new' },
) =>
  job.running.client.call('comments.create', {
    task_id,
    body: `Like this:\n${suggestionBlock(lines)}`,
    anchor: { path: 'src/add.ts', side: 'new', ...at },
  })
const apply = (job: Job, comment_id: string) => job.running.client.call('comments.apply', { comment_id })

test.concurrent('commits a suggestion after what was uncommitted, and updates the files', async () => {
  await using job = await startJob({ files })
  const { task, path, git } = await reviewed(job)
  const comment = await suggest(job, task.id, ['five', 'and a half'], { line: 5, start_line: 4 })
  expect(comment.original?.lines).toEqual(['line 4', 'line 5'])
  const applied = await apply(job, comment.id)
  expect(applied).toMatchObject({
    state: 'resolved',
    applied: { by: 'user:owner', commit: await git('rev-parse', 'HEAD') },
  })
  expect(await git('log', '--format=%s', '-3')).toBe('Apply a suggestion to add.ts\nKeep uncommitted work\nThree')
  expect(await git('log', '-1', '--format=%(trailers:key=Copse-Task,valueonly)')).toContain(task.id)
  expect(await git('status', '--porcelain')).toBe('')
  expect(await git('show', '--format=', '--numstat', 'HEAD')).toBe('2\t2\tsrc/add.ts')
  expect((await readFile(join(path, 'src/add.ts'), 'utf8')).split('\n').slice(2, 6)).toEqual([
    'line three',
    'five',
    'and a half',
    'line 6',
  ])
  const again = await refused(apply(job, comment.id))
  expect([again.code, again.message]).toEqual(['work_changed', expect.stringContaining('applied already, in ')])
})

test.concurrent('finds moved lines, and refuses changed lines and missing files', async () => {
  await using job = await startJob({ files })
  const { task, path, git } = await reviewed(job)
  const [moved, changed] = [
    await suggest(job, task.id, ['six'], { line: 6 }),
    await suggest(job, task.id, ['two'], { line: 2 }),
  ]
  await writeFile(join(path, 'src/add.ts'), `top\n${nine.replace('line 2', 'line zwei')}`)
  const no = await refused(apply(job, changed.id))
  expect([no.code, no.message]).toEqual([
    'work_changed',
    'Line 2 of src/add.ts has changed since this was suggested. Make the change by hand, or suggest it again.',
  ])
  await apply(job, moved.id)
  expect((await readFile(join(path, 'src/add.ts'), 'utf8')).split('\n')).toMatchObject({
    0: 'top',
    2: 'line zwei',
    6: 'six',
    7: 'line 7',
  })
  const gone = await suggest(job, task.id, ['seven'], { line: 8 })
  await git('rm', '-q', 'src/add.ts')
  expect((await refused(apply(job, gone.id))).code).toBe('work_changed')
})

test.concurrent('keeps a file’s line ends, and removes lines for an empty suggestion', async () => {
  await using job = await startJob({ files })
  const { task, path } = await reviewed(job)
  const text = (name: string) => readFile(join(path, name), 'utf8')
  await apply(job, (await suggest(job, task.id, ['zwei', 'drei'], { path: 'dos.txt', line: 2 })).id)
  expect(await text('dos.txt')).toBe('one\r\nzwei\r\ndrei\r\n')
  await apply(job, (await suggest(job, task.id, ['β'], { path: 'last.txt', line: 2 })).id)
  expect(await text('last.txt')).toBe('a\nβ')
  await apply(job, (await suggest(job, task.id, [], { path: 'src/add.ts', line: 9, start_line: 2 })).id)
  expect(await text('src/add.ts')).toBe('line 1\n')
})

test.concurrent('treats other blocks as plain text', async () => {
  await using job = await startJob({ files })
  const { task } = await reviewed(job)
  const words = await job.running.client.call('comments.create', {
    task_id: task.id,
    body: 'Only words.',
    anchor: { path: 'src/add.ts', side: 'new', line: 1 },
  })
  const others = [
    words,
    await suggest(job, task.id, ['x'], { line: 1, side: 'old' }),
    await suggest(job, task.id, ['x'], { line: 10 }),
    await suggest(job, task.id, ['x'], { path: 'none.txt', line: 1 }),
  ]
  for (const comment of others) {
    expect(comment.original).toBeNull()
    expect((await refused(apply(job, comment.id))).code).toBe('validation_failed')
  }
  // A suggestion that is added by an edit counts from then on.
  const body = suggestionBlock(['first'])
  const edited = await job.running.client.call('comments.update', { comment_id: words.id, body })
  expect(edited.original?.lines).toEqual(['line 1'])
  expect((await apply(job, words.id)).applied).not.toBeNull()
})

test.concurrent('applies nothing while an agent runs, or to a finished or archived task', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({ files })
  const { client } = job.running
  const task = await job.task()
  const { execution, path } = await job.claim(task, await job.agent(beacon.hold('agent', 'sleep 1000')))
  await beacon.alive('agent')
  const comment = await suggest(job, task.id, ['one'], { line: 1 })
  const busy = await refused(apply(job, comment.id))
  expect([busy.code, busy.message]).toEqual([
    'workspace_locked',
    'An agent works in this worktree now. Stop it, or wait until its run has ended, then apply the suggestion.',
  ])
  await client.call('executions.stop', { execution_id: execution.id })
  await client.call('tasks.archive', { task_id: task.id })
  expect((await refused(apply(job, comment.id))).message).toContain('Unarchive it first.')
  await client.call('tasks.unarchive', { task_id: task.id })
  await client.call('tasks.cancel', { task_id: task.id })
  expect((await refused(apply(job, comment.id))).code).toBe('task_terminal')
  expect(await readFile(join(path, 'src/add.ts'), 'utf8')).toBe(nine)
})
