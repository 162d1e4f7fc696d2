import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'
import { refused } from '../../helpers/refusal.ts'

const system = async (job: Awaited<ReturnType<typeof startJob>>) => await job.running.client.call('system.get', {})

it('lets a contained agent commit its work, but not read the data folder', async ({ skip }) => {
  await using job = await startJob()
  const { containment, data_dir } = await system(job)
  if (!containment.available && process.env['CI'] === undefined) skip(containment.reason ?? '')
  await writeFile(join(present(data_dir), 'secret'), 'not for runs')
  const agent = await job.running.client.call('agents.create', {
    name: 'Contained',
    executor: 'command',
    config: {
      containment: 'worktree',
      command: `cat "${present(data_dir)}/secret" > seen.txt; cat "$SVC_PROMPT_FILE" > prompt.txt; echo done > work.txt; git add -A; git commit -qm work`,
    },
  })
  const { task, path } = await job.claim(await job.task(), agent)
  await job.running.eventually(
    () => job.executions(task.id),
    ([run]) => run?.status === 'succeeded' || run?.status === 'failed',
  )
  const [run] = await job.executions(task.id)
  expect(run, run?.error ?? '').toMatchObject({ status: 'succeeded' })
  const files = ['work.txt', 'seen.txt', 'prompt.txt'].map((name) => readFile(join(path, name), 'utf8'))
  expect(await Promise.all(files)).toEqual(['done\n', '', expect.stringContaining('A task')])
})

it('restores another branch that a run without a view moves, but not one that a person moves', async ({ skip }) => {
  await using job = await startJob()
  const { containment } = await system(job)
  if (!containment.available && process.env['CI'] === undefined) skip(containment.reason ?? '')
  const { git } = job.repository
  // Refs that may be no files can't be copied to a view, so that the run gets the repository's own, as on macOS.
  await mkdir(join(job.repository.path, '.git', 'reftable'))
  await git(['branch', 'release'])
  await git(['branch', 'theirs'])
  const before = await git(['rev-parse', 'release'])
  const go = join(job.repository.beside, 'go')
  const agent = await job.running.client.call('agents.create', {
    name: 'Mover',
    executor: 'command',
    config: {
      containment: 'worktree',
      extra_paths: { read: [job.repository.beside] },
      command: `echo work > work.txt; git add -A; git commit -qm work; git branch -qf release HEAD; git branch mine; touch moved.txt; until [ -e ${go} ]; do sleep 0.05; done`,
    },
  })
  const { task, path } = await job.claim(await job.task(), agent)
  await expect.poll(() => existsSync(join(path, 'moved.txt'))).toBe(true)
  expect(await git(['rev-parse', 'release'])).not.toBe(before)
  const theirs = await git(['commit-tree', '-m', 'theirs', '-p', 'main', 'main^{tree}'])
  await git(['branch', '-f', 'theirs', theirs])
  await writeFile(go, '')
  const done = await job.running.taskWhere(
    task.id,
    ({ status, entry_barrier }) => status === 'review' && !entry_barrier,
  )
  const tips = await Promise.all(['release', 'theirs'].map((branch) => git(['rev-parse', branch])))
  expect(tips).toEqual([before, theirs])
  expect(await git(['rev-parse', 'mine'])).toMatch(/^[0-9a-f]{40}$/)
  const { items } = await job.running.client.call('tasks.reviews', { task_id: done.id })
  expect(items.at(-1)?.notes).toEqual([{ kind: 'repository_changed', paths: ['refs/heads/release'] }])
})

describe('extra paths', () => {
  const wrong = (data: string): readonly string[] => ['/', 'relative', '~', '~/..', data, `${data}/logs`, dirname(data)]

  it.each(['read', 'write'] as const)('refuses those to %s that are Copse’s own, or contain it', async (what) => {
    await using job = await startJob()
    const { client } = job.running
    const link = join(job.repository.beside, 'link')
    await symlink(job.running.dataDir, link)
    for (const path of [...wrong(job.running.dataDir), link]) {
      const extra_paths = { [what]: [path] }
      const config = { command: 'true', extra_paths }
      const named = await refused(client.call('agents.create', { name: 'Wide', executor: 'command', config }))
      expect(named, path).toMatchObject({ code: 'validation_failed' })
      expect(JSON.stringify(named.details), path).toContain(`config.extra_paths.${what}.0`)
      const agent = await job.agent('true')
      await expect(refused(client.call('agents.update', { agent_id: agent.id, config }))).resolves.toMatchObject({
        code: 'validation_failed',
      })
      await expect(refused(job.settings({ extra_paths }))).resolves.toMatchObject({ code: 'validation_failed' })
    }
  })
})
