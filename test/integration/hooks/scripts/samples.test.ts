import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { HookEvent, HookRun } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../../helpers/job.ts'
import { ended, hookRuns, hookRunWhere } from '../../../helpers/lifecycle.ts'
import { readSamples } from './hooks-page.ts'

const samples = readSamples()

/** A job whose project has the hooks of this sample. */
async function startSample(heading: string, files: Readonly<Record<string, string>> = {}): Promise<Job> {
  const job = await startJob({ files: { 'README.md': '# Example\n', ...files } })
  const lifecycle_hooks = samples.get(heading)
  if (!lifecycle_hooks) throw new Error(`docs/hooks.md has no sample "${heading}".`)
  await job.settings({ lifecycle_hooks })
  return job
}

const packageOf = (scripts: Readonly<Record<string, string>>, more: object = {}): string =>
  JSON.stringify({ name: 'example', version: '1.0.0', private: true, scripts, ...more })

async function reviewed(job: Job, task: Task): Promise<Task> {
  return await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

/** Works on a task, merges it, and resolves once its worktree is gone. */
async function merge(job: Job, task: Task): Promise<void> {
  await job.claim(task, await job.agent('echo "$SVC_TASK_ID" >> work.txt', `For ${task.title}`))
  const { version } = await reviewed(job, task)
  const { client } = job.running
  const task_id = task.id
  await client.call('tasks.transition', { task_id, status: 'merging', version })
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id }),
    ({ status }) => status === 'cleaned',
  )
}

async function runOf(job: Job, task: Task, event: HookEvent): Promise<HookRun> {
  return await hookRunWhere(job, task.id, ended(event))
}

test('has the five samples on the page', () => {
  expect([...samples.keys()]).toEqual([
    'Install dependencies before work',
    'Start and stop a dev server',
    'Post to a webhook on done',
    'Format on stop',
    'Tag a release when done',
  ])
})

test('sample: installs dependencies once before the agent starts', async () => {
  const dependencies = { tiny: 'file:tiny' }
  const lock = {
    name: 'example',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'example', version: '1.0.0', dependencies },
      'node_modules/tiny': { resolved: 'tiny', link: true },
      tiny: { version: '1.0.0' },
    },
  }
  await using job = await startSample('Install dependencies before work', {
    'package.json': packageOf({}, { dependencies }),
    'package-lock.json': JSON.stringify(lock),
    'tiny/package.json': '{"name":"tiny","version":"1.0.0"}',
    'tiny/index.js': 'module.exports = "tiny is here"',
    '.gitignore': 'node_modules\n',
  })
  const task = await job.task()
  const agent = await job.agent(`node -p 'require("tiny")' > said.txt; exit 3`)
  const { path } = await job.claim(task, agent)
  const failed = await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  expect(readFileSync(join(path, 'said.txt'), 'utf8')).toBe('tiny is here\n')
  const { client } = job.running
  await client.call('tasks.transition', { task_id: task.id, status: 'todo', version: failed.version })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  const runs = (await hookRuns(job, task.id)).map(({ status, stdout }) => [status, stdout.includes('added')])
  expect(runs).toEqual([
    ['succeeded', true],
    ['succeeded', false],
  ])
})

const server = `
const server = require('node:http').createServer((_, response) => response.end('it serves'))
server.listen(process.env.PORT, '127.0.0.1', () => console.log('ready on ' + process.env.PORT))
`
/** Ends once the server of its worktree has answered. */
const ask = `
const ask = () => fetch('http://127.0.0.1:' + process.env.SVC_PORT_BASE).catch(() => new Promise(setImmediate).then(ask))
ask().then(async (response) => console.log(await response.text()))
`

async function startServed(agent: string) {
  const job = await startSample('Start and stop a dev server', {
    'package.json': packageOf({ dev: 'node server.js' }),
    'server.js': server,
    'ask.js': ask,
  })
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent(agent))
  return { job, task, path }
}

const dirt = (job: Job, cwd: string) => job.repository.git(['status', '--porcelain'], { cwd })

test('sample: serves a dev server to the agent until the work stops', async () => {
  const { job, task, path } = await startServed('node ask.js && echo work > work.txt')
  await using _ = job
  await reviewed(job, task)
  const run = await runOf(job, task, 'on_work_start')
  expect(run).toMatchObject({ status: 'succeeded', exit_code: 143 })
  const port = run.environment['SVC_PORT_BASE'] ?? ''
  expect(run.stdout).toContain(`ready on ${port}`)
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
  expect((await runOf(job, task, 'on_work_stop')).status).toBe('succeeded')
  expect(await dirt(job, path)).toBe('?? work.txt')
})

test('sample: ends a dev server when its task is cancelled', async () => {
  const { job, task } = await startServed('node ask.js && touch asked && exec sleep 600')
  await using _ = job
  await hookRunWhere(job, task.id, ({ stdout }) => stdout.includes('ready on'))
  await job.running.client.call('tasks.cancel', { task_id: task.id })
  expect((await runOf(job, task, 'on_task_cancel')).status).toBe('succeeded')
  const run = await runOf(job, task, 'on_work_start')
  await expect(fetch(`http://127.0.0.1:${run.environment['SVC_PORT_BASE'] ?? ''}`)).rejects.toThrow()
})

test('sample: formats the agent’s work before the checks', async () => {
  const format = `const fs = require('node:fs'); fs.writeFileSync('work.txt', fs.readFileSync('work.txt', 'utf8').trim() + '\\n')`
  await using job = await startSample('Format on stop', {
    'package.json': packageOf({ format: 'node format.js' }),
    'format.js': format,
  })
  const task = await job.task({
    review_config: { ci_steps: [`test "$(head -n 1 work.txt)" = tidy`], review_prompt: null },
  })
  const { path } = await job.claim(task, await job.agent(`printf '\\n\\n   tidy   ' > work.txt`))
  await reviewed(job, task)
  expect(readFileSync(join(path, 'work.txt'), 'utf8')).toBe('tidy\n')
  expect((await runOf(job, task, 'on_work_stop')).status).toBe('succeeded')
})

test('sample: tags what was merged for a release, and nothing for another task', async () => {
  await using job = await startSample('Tag a release when done')
  await merge(job, await job.task({ title: 'Something else' }))
  expect(await job.repository.git(['tag'])).toBe('')
  const release = await job.task({ title: 'Release 1.2.0' })
  await merge(job, release)
  expect(await runOf(job, release, 'on_task_done')).toMatchObject({ status: 'succeeded', stderr: '' })
  const { git } = job.repository
  expect(await git(['tag', '--format', '%(refname:short) %(contents:subject)'])).toBe('v1.2.0 Release 1.2.0')
  expect(await git(['rev-parse', 'v1.2.0^{commit}'])).toBe(await git(['rev-parse', 'main']))
})
