import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { containmentLevels } from '../../../src-shared/contract/containment-levels.ts'
import type { Agent, AgentConfig } from '../../../src-shared/contract/projects.ts'
import { findOnPath } from '../../../src-main/platform/process/find-on-path.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { refused } from '../../helpers/refusal.ts'

/** A machine without bubblewrap: a PATH with only these programs. */
const programs = ['sh', 'git', 'env', 'cat', 'mkdir', 'ps', 'sleep', 'test', 'true']
const folder = mkdtempSync(join(tmpdir(), 'copse-path-'))
const before = process.env['PATH']

const agentOf = (job: Job, config: AgentConfig): Promise<Agent> =>
  job.running.client.call('agents.create', {
    name: `Agent ${config.containment ?? ''}`,
    executor: 'command',
    config: { command: 'echo work > work.txt', ...config },
  })

beforeAll(() => {
  for (const name of programs) {
    const path = findOnPath(name)
    if (path !== null) symlinkSync(path, join(folder, name))
  }
  process.env['PATH'] = folder
})

afterAll(() => {
  process.env['PATH'] = before
  rmSync(folder, { recursive: true, force: true })
})

describe.runIf(process.platform === 'linux')('a machine without containment', () => {
  it('says so once in the log, and at /system with what to do', async () => {
    const { log, lines } = createLogLines()
    await using job = await startJob({ config: { containment: 'auto' }, log })
    const { containment } = await job.running.client.call('system.get', {})
    expect(containment).toMatchObject({ available: false, kind: null })
    expect(containment.reason).toMatch(/bwrap.*Install the packages bubblewrap/)
    await job.claim(await job.task(), await agentOf(job, {}))
    expect(lines.filter(({ msg }) => msg.startsWith('runs are not contained'))).toHaveLength(1)
  })

  it('runs what may run uncontained', async () => {
    await using job = await startJob({ config: { containment: 'auto' } })
    await job.settings({ setup_commands: ['echo setup > setup.txt'] })
    const { task } = await job.claim(await job.task(), await agentOf(job, { containment: 'auto' }))
    await job.running.taskWhere(task.id, ({ status }) => status === 'review')
  })

  it.each(containmentLevels.filter((level) => level.startsWith('worktree')))(
    'refuses the claim of an agent that needs %s',
    async (containment) => {
      await using job = await startJob()
      const agent = await agentOf(job, { containment })
      const refusal = await refused(job.claim(await job.task(), agent))
      expect(refusal).toMatchObject({ code: 'containment_unavailable', status: 409 })
      expect(refusal.message).toContain('Install the packages bubblewrap and socat')
    },
  )

  it('shows the same on a task that starts such an agent automatically', async () => {
    await using job = await startJob()
    const { client } = job.running
    const auditor = await agentOf(job, { containment: 'worktree' })
    const { task } = await job.claim(await job.task(), await agentOf(job, {}))
    await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: auditor.id })
    const stuck = await job.running.taskWhere(task.id, ({ error_annotation }) => error_annotation !== null)
    expect(stuck.error_annotation).toMatchObject({
      type: 'execution_failed',
      message: expect.stringContaining('can’t be contained') as string,
      recovery_actions: ['retry_execution'],
    })
  })

  it('refuses checks and setup commands that need containment, and runs none', async () => {
    await using job = await startJob()
    const { client } = job.running
    await job.settings({ ci_containment: 'worktree' })
    const task = await job.task({ review_config: { ci_steps: ['echo ran > ran.txt'], review_prompt: null } })
    await job.claim(task, await agentOf(job, {}))
    const held = await job.running.taskWhere(task.id, ({ error_annotation }) => error_annotation !== null)
    expect(held).toMatchObject({ status: 'review', entry_barrier: true })
    expect(held.error_annotation).toMatchObject({ recovery_actions: ['retry_hook'] })
    await job.settings({ ci_containment: 'none' })
    await client.call('tasks.recover', { task_id: task.id, action: 'retry_hook' })
    await job.running.taskWhere(task.id, ({ review_summary }) => review_summary?.steps[0] === 'passed')
    await job.settings({ ci_containment: 'worktree', setup_commands: ['echo ran > ran.txt'] })
    const refusal = await refused(job.claim(await job.task(), await job.agent('true')))
    expect(refusal).toMatchObject({ code: 'workspace_failed' })
    expect(refusal.message).toContain('The setup commands were not run.')
  })
})
