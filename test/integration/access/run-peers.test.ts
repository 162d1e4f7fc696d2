import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { script as hook, setHooks } from '../../helpers/lifecycle.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import type { RunOptions } from '../../helpers/running-app.ts'

// What a program of a run can do with the sign-ins that it finds. Only Linux tells which program a connection comes from.

const script = join(projectRoot, 'test', 'helpers', 'attack-script.mjs')
const webRoot = mkdtempSync(join(tmpdir(), 'copse-page-'))
writeFileSync(join(webRoot, 'index.html'), '<title>Copse</title>')
afterAll(() => rmSync(webRoot, { recursive: true, force: true }))

type Answers = Readonly<Record<string, string>>
interface Outcome {
  readonly attacks: Answers
  readonly allowed: Answers
}

const refused: Answers = {
  'REST, session': '401 invalid_token',
  'REST, new token': '401 invalid_token',
  'REST, personal token': '401 invalid_token',
  'REST, token of another run': '401 invalid_token',
  'REST, page of this machine': '401 invalid_token',
  'REST, remote machine': '401 invalid_token',
  'REST, no route': '401 invalid_token',
  'MCP, personal token': '401 invalid_token',
  'MCP, token in address': '401 invalid_token',
  'SSE, events': '401 invalid_token',
  'SSE, transcript': '401 invalid_token',
  'page, sign in': '401 invalid_token',
  'page, one-time code': '401 invalid_token',
  'page, refresh': '401 invalid_token',
  'page, sign out': '401 invalid_token',
  'page, register': '403 other_user',
  'page, invite': '403 other_user',
}
const open: Answers = { 'page, files': '200', health: '200', description: '200' }
const own: Answers = { 'own, REST': '200', 'own, MCP': '200', 'own, SSE': '200' }

interface Target {
  readonly job: Job
  /** Returns a command that tries everything from the current folder and writes the answers to `file`. */
  attack(file: string, more?: string): Promise<string>
}

async function startTarget(options: RunOptions = {}): Promise<Target> {
  const job = await startJob({ ...options, config: { webRoot, ...options.config } })
  const { client, app, url } = job.running
  const busy = await job.agent('exec sleep 600', 'Busy')
  const { execution, task } = await job.claim(await job.task({ title: 'Another task' }), busy)
  await job.running.eventually(
    () => job.executions(task.id),
    ([run]) => run?.status === 'running',
  )
  const other = app.identity.agentTokens.mint({
    agent_id: busy.id,
    project_id: job.project.id,
    task_id: task.id,
    execution_id: execution.id,
  })
  const { daemon, token } = await client.call('daemons.create', { name: 'builder' })
  return {
    job,
    attack: async (file, more = '') => {
      const me = { email: 'owner@copse.test', password: 'correct horse' }
      const session = await job.running.clientWith(null).call('auth.login', me)
      const pat = await client.call('auth.create_token', { name: file })
      const invite = await client.call('admin.create_invite', {})
      const local = app.identity.localSignIn(app.identity.createLocalCode())
      const found = {
        session,
        pat: pat.token,
        daemon: token,
        daemon_id: daemon.id,
        local: local.access_token,
        code: app.identity.createLocalCode(),
        invite: invite.code,
        other,
        execution_id: execution.id,
      }
      return [process.execPath, script, url, JSON.stringify(found), file, more].map((word) => `'${word}'`).join(' ')
    },
  }
}

async function outcome(path: string, file: string): Promise<Outcome> {
  const read = async () => readFile(join(path, file), 'utf8').catch(() => null)
  await expect.poll(read, { timeout: 100_000 }).not.toBeNull()
  return JSON.parse(String(await read())) as Outcome
}

/** Has an agent run these commands in its worktree, and waits for its end. */
async function run(job: Job, commands: readonly string[], config: Partial<AgentConfig> = {}): Promise<string> {
  const command = commands.join('\n')
  const agent = await job.running.client.call('agents.create', {
    name: 'Mallory',
    executor: 'command',
    config: { containment: 'none', ...config, command },
  })
  const { task, path } = await job.claim(await job.task({ title: 'Become admin' }), agent)
  await job.running.eventually(
    () => job.executions(task.id),
    ([one]) => one !== undefined && one.finished_at !== null,
  )
  const [ended] = await job.executions(task.id)
  expect(ended?.status, ended?.error ?? '').toBe('succeeded')
  return path
}

const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.05; done`
const ofRun = { attacks: refused, allowed: { ...open, ...own } }
const withoutToken = { attacks: refused, allowed: open }
/** What a contained attack needs to read. */
const tools = { read: [dirname(dirname(process.execPath)), dirname(script)] }
const isContainable = async ({ running }: Job) =>
  (await running.client.call('system.get', {})).containment.available || process.env['CI'] !== undefined

describe.runIf(process.platform === 'linux')('gets in with its own token alone', { timeout: 240_000 }, () => {
  it('as a program of a run, however it was started', async () => {
    const { job, attack } = await startTarget()
    await using _ = job
    const path = await run(job, [
      await attack('direct'),
      `setsid --fork ${await attack('apart', 'orphan')}`,
      until('apart'),
      `env -i ${await attack('bare')}`,
      `(env -i ${await attack('orphan', 'orphan')} &)`,
      until('orphan'),
      `env -i setsid --fork ${await attack('daemon', 'orphan')}`,
      until('daemon'),
    ])
    for (const file of ['direct', 'apart']) expect(await outcome(path, file), file).toEqual(ofRun)
    for (const file of ['bare', 'orphan', 'daemon']) {
      expect(await outcome(path, file), file).toEqual(withoutToken)
    }
    const { items } = await job.running.client.call('admin.security_log', { limit: 200 })
    const [entry] = items.filter(({ type }) => type === 'run_refused').toReversed()
    const [execution] = await job.executions(String(entry?.details['task_id']))
    expect(entry).toMatchObject({
      user_id: job.project.owner_id,
      actor: `agent:${execution?.agent_id ?? ''}`,
      address: '127.0.0.1',
      details: { execution_id: execution?.id, method: 'GET', path: '/api/v1/projects' },
    })
  })

  it('as a program in a terminal', async () => {
    const { job, attack } = await startTarget()
    await using _ = job
    const path = await run(job, [await attack('answers')], { terminal: true })
    expect(await outcome(path, 'answers')).toEqual(ofRun)
  })

  it.for(['worktree', 'worktree_and_hosts'] as const)(
    'as a program contained under %s',
    async (containment, { skip }) => {
      const { job, attack } = await startTarget()
      await using _ = job
      if (!(await isContainable(job))) skip()
      const commands = [
        await attack('direct'),
        // Nothing leaves the namespace of its processes: it becomes a child of the first one.
        `env -i HOME=/ setsid --fork ${await attack('daemon', 'orphan')}`,
        until('daemon'),
      ]
      const path = await run(job, commands, { containment, extra_paths: { ...tools, write: [] } })
      expect(await outcome(path, 'direct')).toEqual(ofRun)
      expect(await outcome(path, 'daemon')).toEqual(withoutToken)
    },
  )

  it('as a program that may reach this machine through the proxy', async ({ skip }) => {
    const { job } = await startTarget()
    await using _ = job
    if (!(await isContainable(job))) skip()
    const { token } = await job.running.client.call('auth.create_token', { name: 'mine' })
    const { port } = new URL(job.running.url)
    const hosts = ['127.0.0.1', 'localhost', 'x.localhost'].map((name) => `${name}:${port}`)
    const ask = (host: string) =>
      `curl -s -o /dev/null -w '%{http_code} ' --noproxy '' -x "$http_proxy" -H 'authorization: Bearer ${token}' http://${host}/api/v1/projects`
    const command = `{ ${hosts.map(ask).join('; ')}; } > answers`
    const path = await run(job, [command], { containment: 'worktree_and_hosts', allowed_hosts: hosts.slice(0, 2) })
    expect(await readFile(join(path, 'answers'), 'utf8')).toBe('403 403 403 ')
  })
})

describe.runIf(process.platform === 'linux')('has no access', { timeout: 240_000 }, () => {
  it.for(['none', 'worktree'] as const)('as a setup command, hook or check, contained: %s', async (level, { skip }) => {
    const { job, attack } = await startTarget()
    await using _ = job
    if (level !== 'none' && !(await isContainable(job))) skip()
    await job.settings({
      ci_containment: level,
      extra_paths: { ...tools, write: [] },
      setup_commands: [await attack('setup')],
    })
    await setHooks(job, { before_work: [hook(await attack('hook'), { blocking: true })] })
    const check = await attack('check')
    const task = await job.task({ review_config: { ci_steps: [check], review_prompt: null } })
    const { path } = await job.claim(task, await job.agent('echo work > work.txt'))
    for (const file of ['setup', 'hook', 'check']) {
      expect(await outcome(path, file), file).toEqual(withoutToken)
    }
  })
})
