import { expect, test } from 'vitest'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { plugin, script, setHooks } from '../../helpers/lifecycle.ts'

/** The answer to settings as a client may send them, valid or not. */
async function patch(job: Job, body: string): Promise<{ status: number; issues: { path: string; message: string }[] }> {
  const response = await fetch(`${job.running.url}/api/v1/projects/${job.project.id}/settings`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${job.running.token}`, 'content-type': 'application/json' },
    body,
  })
  const answer = (await response.json()) as { error?: { details?: { issues?: [] } } }
  return { status: response.status, issues: answer.error?.details?.issues ?? [] }
}

test('reads hooks back as written, with defaults filled in', async () => {
  await using job = await startJob()
  await setHooks(job, {
    before_work: [
      script('npm ci', { blocking: true, timeout_seconds: 600 }),
      plugin('knowledge-inject', { config: { limit: 3 } }),
    ],
    on_task_done: [script('curl -s example.test')],
  })
  const { lifecycle_hooks } = await job.running.client.call('projects.get_settings', { project_id: job.project.id })
  expect(lifecycle_hooks).toEqual({
    before_work: [
      {
        type: 'script',
        command: 'npm ci',
        timeout_seconds: 600,
        blocking: true,
        success_exit_codes: [0],
        applies_to: 'all',
      },
      { type: 'plugin', name: 'knowledge-inject', enabled: true, config: { limit: 3 }, applies_to: 'all' },
    ],
    on_task_done: [
      {
        type: 'script',
        command: 'curl -s example.test',
        timeout_seconds: 30,
        blocking: false,
        success_exit_codes: [0],
        applies_to: 'all',
      },
    ],
  })
})

test.each([
  ['an event that there is not', { before_lunch: [script('true')] }, 'lifecycle_hooks.before_lunch'],
  ['a list that is none', { before_work: script('true') }, 'lifecycle_hooks.before_work'],
  [
    'blocking elsewhere',
    { on_task_done: [script('a'), script('b', { blocking: true })] },
    'lifecycle_hooks.on_task_done.1.blocking',
  ],
  [
    'no time at all',
    { before_work: [script('a', { timeout_seconds: 0 })] },
    'lifecycle_hooks.before_work.0.timeout_seconds',
  ],
  [
    'half a second',
    { before_work: [script('a', { timeout_seconds: 0.5 })] },
    'lifecycle_hooks.before_work.0.timeout_seconds',
  ],
  [
    'two days',
    { before_work: [script('a', { timeout_seconds: 172_800 })] },
    'lifecycle_hooks.before_work.0.timeout_seconds',
  ],
  ['an empty command', { before_work: [script('  ')] }, 'lifecycle_hooks.before_work.0.command'],
  [
    'an exit code that there is not',
    { before_work: [script('a', { success_exit_codes: [256] })] },
    'lifecycle_hooks.before_work.0.success_exit_codes.0',
  ],
  ['a plugin that there is not', { on_work_stop: [plugin('no_such')] }, 'lifecycle_hooks.on_work_stop.0.name'],
  [
    'options that do not fit',
    { before_work: [plugin('knowledge-inject', { config: { limit: 'all' } })] },
    'lifecycle_hooks.before_work.0.config',
  ],
  [
    'an audience that there is not',
    { before_work: [script('a', { applies_to: 'cats' as 'all' })] },
    'lifecycle_hooks.before_work.0.applies_to',
  ],
  [
    'a field that there is not',
    { before_work: [{ ...script('a'), retries: 3 }] },
    'lifecycle_hooks.before_work.0.retries',
  ],
  ['another type', { before_work: [{ type: 'python', command: 'a' }] }, 'lifecycle_hooks.before_work.0.type'],
])('refuses settings with %s, names the place and changes nothing', async (_name, lifecycle_hooks, path) => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('true')] })
  const settings = () => job.running.client.call('projects.get_settings', { project_id: job.project.id })
  const before = await settings()
  const { status, issues } = await patch(job, JSON.stringify({ lifecycle_hooks, branch_prefix: 'other/' }))
  expect([status, issues.map((issue) => issue.path)]).toEqual([400, [path]])
  expect(await settings()).toEqual(before)
})

test('lists plugins with their events and options', async () => {
  await using job = await startJob()
  const { items } = await job.running.client.call('plugins.list', {})
  expect(items).toHaveLength(15)
  const inject = items.find(({ name }) => name === 'knowledge-inject')
  expect(inject).toMatchObject({
    events: ['before_work'],
    options: { type: 'object', properties: { limit: { type: 'integer' } } },
  })
})

test('keeps the hooks in settings that name none', async () => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('true')] })
  await job.settings({ branch_prefix: 'other/' })
  const input: OperationInput<'projects.get_settings'> = { project_id: job.project.id }
  const { lifecycle_hooks } = await job.running.client.call('projects.get_settings', input)
  expect(lifecycle_hooks.before_work).toHaveLength(1)
})
