import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

type Denied = Extract<TranscriptEntry, { type: 'denied' }>

const outside = folderOutside('denied')
afterAll(() => {
  rmSync(outside, { recursive: true, force: true })
})

const entriesOf = async (job: Job, execution_id: string): Promise<readonly TranscriptEntry[]> => {
  const found: TranscriptEntry[] = []
  const items = job.running.client.transcript({ execution_id }, null, AbortSignal.timeout(20_000))
  for await (const item of items) if (item.kind === 'entry') found.push(item.entry)
  return found
}

const isDenied = (entry: TranscriptEntry): entry is Denied => entry.type === 'denied'

describe.runIf(isContainable(containmentIn(outside)))('denials', () => {
  it('appear in the transcript of the run with their count', async () => {
    await using job = await startJob()
    const command = [
      'for n in 1 2 3; do curl -sS -m 5 http://denied.test/; done',
      `echo x > ${outside}/new`,
      'echo done',
    ].join('; ')
    const agent = await job.running.client.call('agents.create', {
      name: 'Denied',
      executor: 'command',
      config: { command, containment: 'worktree_and_hosts' },
    })
    const { execution, task } = await job.claim(await job.task(), agent)
    await job.running.eventually(
      () => job.executions(task.id),
      ([run]) => run?.status === 'succeeded',
    )
    const denied = (await entriesOf(job, execution.id)).filter(isDenied)
    const told = (what: Denied['what']) =>
      denied.filter((one) => one.what === what).map(({ target, count }) => [target, count])
    expect(told('host')).toEqual([
      ['denied.test', 1],
      ['denied.test', 3],
    ])
    expect(told('path')).toEqual([[`${outside}/new`, 1]])
    expect(existsSync(join(outside, 'new'))).toBe(false)
  })

  it('are named after the output of a failed check', async () => {
    await using job = await startJob()
    await job.settings({ ci_containment: 'worktree_and_hosts' })
    const step = 'curl -fsS -m 5 http://denied.test/'
    const task = await job.task({ review_config: { ci_steps: [step], review_prompt: null } })
    await job.claim(task, await job.agent('echo work > work.txt'))
    const { items } = await job.running.eventually(
      () => job.running.client.call('tasks.reviews', { task_id: task.id }),
      ({ items: all }) => all.some(({ step_results }) => step_results[0]?.exit_code != null),
    )
    expect(items.at(-1)?.step_results[0]?.output_tail).toMatch(/Blocked by containment: host denied\.test\./)
  })

  it('are not named after it if they are telemetry', async () => {
    await using job = await startJob()
    await job.settings({ ci_containment: 'worktree_and_hosts' })
    const ci_steps = ['for host in sentry.io us.i.posthog.com; do curl -sS -m 5 http://$host/; done; exit 1']
    const task = await job.task({ review_config: { ci_steps, review_prompt: null } })
    await job.claim(task, await job.agent('echo work > work.txt'))
    const { items } = await job.running.eventually(
      () => job.running.client.call('tasks.reviews', { task_id: task.id }),
      ({ items: all }) => all.some(({ step_results }) => step_results[0]?.exit_code != null),
    )
    const tail = items.at(-1)?.step_results[0]?.output_tail
    expect(tail).toContain('blocked by network allowlist')
    expect(tail).not.toContain('Blocked by containment')
  })

  it('are named with the setup command that failed', async () => {
    await using job = await startJob()
    await job.settings({ ci_containment: 'worktree', setup_commands: [`echo x > ${outside}/setup`] })
    const claimed = job.claim(await job.task(), await job.agent('true'))
    await expect(claimed).rejects.toMatchObject({
      code: 'workspace_failed',
      message: expect.stringContaining(`Blocked by containment: path ${outside}/setup.`) as string,
    })
  })
})
