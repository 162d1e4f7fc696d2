import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startJob } from '../../helpers/job.ts'

const system = async (job: Awaited<ReturnType<typeof startJob>>) => await job.running.client.call('system.get', {})

it('an agent that is contained commits its work, and does not read the data folder', async ({ skip }) => {
  await using job = await startJob()
  const { containment, data_dir } = await system(job)
  if (!containment.available && process.env['CI'] === undefined) skip(containment.reason ?? '')
  await writeFile(join(data_dir, 'secret'), 'not for runs')
  const agent = await job.running.client.call('agents.create', {
    name: 'Contained',
    executor: 'command',
    config: {
      containment: 'worktree',
      command: `cat "${data_dir}/secret" > seen.txt; cat "$SVC_PROMPT_FILE" > prompt.txt; echo done > work.txt; git add -A; git commit -qm work`,
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

it.each([['/'], ['relative'], ['~']])('%s is no extra path', async (path) => {
  await using job = await startJob()
  const config = { command: 'true', extra_paths: { read: [path] } }
  await expect(
    job.running.client.call('agents.create', { name: 'Wide', executor: 'command', config }),
  ).rejects.toMatchObject({ code: 'validation_failed' })
})
