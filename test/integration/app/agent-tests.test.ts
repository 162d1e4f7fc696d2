import { executorProfiles, type PermissionPolicy } from '../../../src-shared/contract/executor-profiles.ts'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { refused } from '../../helpers/refusal.ts'
import { startJob, type Job } from '../../helpers/job.ts'

const testOf = async (job: Job, command: string) =>
  job.running.client.call('agents.test', { agent_id: (await job.agent(command)).id })
const left = (job: Job) => readdir(join(job.running.dataDir, 'agent-tests'))

test.concurrent('passes an agent that starts, answers and ends, and leaves nothing behind', async () => {
  await using job = await startJob()
  const answer = await testOf(job, 'cat > asked.txt; test -d .git && echo ready; (sleep 600 &) ')
  expect(answer).toMatchObject({ ok: true, started: true, answered: true, ended: true, exit_code: 0, message: 'ready' })
  expect(answer.entries.map(({ type }) => type)).toEqual(['prompt', 'stdout'])
  expect(await left(job)).toEqual([])
  expect(processesIn([join(job.running.dataDir, 'agent-tests')])).toEqual([])
})

test.concurrent('reports a missing program, silence or a failure', async () => {
  await using job = await startJob()
  expect(await testOf(job, 'copse-no-such-program')).toMatchObject({
    ok: false,
    started: true,
    ended: false,
    exit_code: 127,
  })
  expect(await testOf(job, 'true')).toMatchObject({ ok: false, answered: false, ended: true })
  const failing = await testOf(job, 'echo "Please run login" >&2; exit 3')
  expect(failing).toMatchObject({ ok: false, answered: false, exit_code: 3 })
  expect(failing.message).toContain('Please run login')
  const agent = await job.running.client.call('agents.create', {
    name: 'Missing',
    executor: 'codex',
    config: { command: '/nowhere/codex' },
  })
  const missing = await job.running.client.call('agents.test', { agent_id: agent.id })
  expect(missing).toMatchObject({ ok: false, started: false, exit_code: null, entries: [] })
  expect(missing.message).toContain('/nowhere/codex')
  expect(await left(job)).toEqual([])
})

test.concurrent('redacts a secret in the agent’s output', async () => {
  await using job = await startJob()
  const token = `ghp_${'a1B2'.repeat(9)}`
  const answer = await testOf(job, `cat >/dev/null; echo "token ${token}"`)
  expect(answer.ok).toBe(true)
  expect(JSON.stringify(answer)).not.toContain(token)
})

test.concurrent('ends a test completely when the service ends', async () => {
  await using job = await startJob()
  await using beacon = await createProcessBeacon()
  const asked = testOf(job, beacon.hold('agent', wait)).catch(() => null)
  await beacon.alive('agent')
  job.running = await job.running.restart()
  await beacon.gone('agent')
  await asked
  expect(await left(job)).toEqual([])
})

test.concurrent('does not start a remote agent, and creates none without its command', async () => {
  await using job = await startJob()
  const { client } = job.running
  const external = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
  expect((await refused(client.call('agents.test', { agent_id: external.id }))).code).toBe('not_claimable')
  for (const executor of ['acp', 'command'] as const) {
    const answer = await refused(client.call('agents.create', { name: 'Empty', executor, config: { command: ' ' } }))
    expect(answer).toMatchObject({ code: 'validation_failed', details: { issues: [{ path: 'config.command' }] } })
  }
})

test.concurrent('names arguments that an agent would not get before it runs', async () => {
  await using job = await startJob()
  const check = async (
    executor: (typeof executorProfiles)[number],
    args: string[],
    permissions: PermissionPolicy = 'all',
  ) => (await job.running.client.call('agents.check_args', { executor, args, permissions })).refused
  expect(await check('claude-code', ['--add-dir', '../docs', '--output-format', 'text', '-p', 'Hello'])).toEqual([
    '--output-format',
    'text',
    '-p',
    'Hello',
  ])
  expect(await check('gemini', ['--yolo', '--debug'])).toEqual(['--yolo'])
  const settings = ['--settings', 'mine.json']
  expect(await check('claude-code', settings)).toEqual([])
  expect(await check('claude-code', settings, 'ask')).toEqual(settings)
  expect(await check('command', ['--anything', '-x'])).toEqual([])
  for (const executor of executorProfiles) expect(await check(executor, [])).toEqual([])
})

test.concurrent('asks each agent’s program about the sign-in, and says what to run', async () => {
  await using job = await startJob()
  const { client } = job.running
  const program = join(job.repository.beside, 'codex')
  await writeFile(
    program,
    '#!/bin/sh\n[ "$1" = --version ] && { echo codex-cli 1.2.3; exit 0; }\necho "Not logged in"; exit 1\n',
  )
  await chmod(program, 0o755)
  const codex = { name: 'Codex', executor: 'codex', config: { command: program } } as const
  const asked = await client.call('agents.create', codex)
  const gone = await client.call('agents.create', { ...codex, name: 'Gone', config: { command: '/nowhere/codex' } })
  const { items } = await client.call('agents.sign_ins', {})
  expect(items.find(({ agent_id }) => agent_id === asked.id)).toMatchObject({
    installed: true,
    signed_in: false,
    hint: expect.stringContaining('codex login') as string,
  })
  expect(items.find(({ agent_id }) => agent_id === gone.id)).toMatchObject({ installed: false })
})
