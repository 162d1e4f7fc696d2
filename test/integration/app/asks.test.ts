import type { PermissionPolicy } from '../../../src-shared/contract/executor-profiles.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Ask, Execution, TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { writeAskingClaude } from '../../helpers/asking-claude.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

const command = `"${process.execPath}" "${join(projectRoot, 'test/fakes/asking-acp-agent.ts')}"`
const run = (line: string) => ({ title: line, kind: 'execute', rawInput: { command: line } })
const write = (path: string) => ({ title: `Write ${path}`, kind: 'edit', rawInput: { path, content: 'x\n' } })

/** A claimed task whose agent requests these calls. */
async function begin(job: Job, permissions: PermissionPolicy, calls: readonly object[]): Promise<Execution> {
  const { client } = job.running
  const agent = await client.call('agents.create', { name: 'Asker', executor: 'acp', config: { command, permissions } })
  const task = await job.task({ description: `Do it. <asks>${JSON.stringify(calls)}</asks>` })
  return (await job.claim(task, agent)).execution
}

const get = (job: Job, { id }: Execution) => job.running.client.call('executions.get', { execution_id: id })
/** Returns the requests of an execution once there are as many, except earlier ones. */
const asked = async (job: Job, execution: Execution, fits: (asks: readonly Ask[]) => boolean): Promise<Ask> => {
  const found = await job.running.eventually(
    () => get(job, execution),
    ({ asks = [] }) => asks.length > 0 && fits(asks),
  )
  const ask = found.asks?.[0]
  if (!ask) throw new Error('It asks nothing.')
  return ask
}
const answer = (job: Job, { id }: Execution, ask: Ask, option_id: string, text?: string) =>
  job.running.client.call('executions.answer', { execution_id: id, ask_id: ask.id, option_id, ...(text && { text }) })
const ended = (job: Job, execution: Execution) =>
  job.running.eventually(
    () => get(job, execution),
    (one) => one.finished_at !== null,
  )

async function transcript(job: Job, { id }: Execution): Promise<readonly TranscriptEntry[]> {
  const name = `agent-${id}.jsonl`
  const { data_base64 } = await job.running.client.call('executions.read_log', { execution_id: id, name })
  const lines = Buffer.from(data_base64, 'base64').toString('utf8').trim().split('\n')
  return lines.map((line) => parseJson(line) as TranscriptEntry)
}

test.concurrent('shows people what an agent wants to run, and records who allowed it', async () => {
  await using job = await startJob()
  const execution = await begin(job, 'ask', [run('npm test')])
  const ask = await asked(job, execution, () => true)
  expect(ask).toMatchObject({
    kind: 'permission',
    text: 'Wants to run npm test',
    action: 'run',
    detail: 'npm test',
    takes_text: false,
    options: [
      { id: 'allow', kind: 'allow_once' },
      { id: 'allow_always', kind: 'allow_always' },
      { id: 'reject', kind: 'reject_once' },
    ],
  })
  const notifications = async () =>
    (await job.running.client.call('notifications.list', { project_id: job.project.id })).items
  expect(await notifications()).toMatchObject([{ event_type: 'execution.asks', body: 'Wants to run npm test' }])

  const answered = await answer(job, execution, ask, 'allow')
  expect(answered.execution.asks).toBeUndefined()
  // An answer ends the news for everyone.
  expect(await notifications()).toEqual([])
  expect(await ended(job, execution)).toMatchObject({ status: 'succeeded', summary: 'Answered: my-allow_once.' })
  const entries = (await transcript(job, execution)).filter(({ type }) => type === 'question' || type === 'answer')
  expect(entries).toMatchObject([
    { type: 'question', ask_id: ask.id, text: 'Wants to run npm test', options: ask.options },
    { type: 'answer', ask_id: ask.id, text: 'Allow', by: 'user:owner' },
  ])
})

test.concurrent('accepts one answer, by a person, from the options', async () => {
  await using job = await startJob()
  const { running } = job
  const execution = await begin(job, 'ask', [run('one'), run('two')])
  const ask = await asked(job, execution, () => true)
  const { id: execution_id } = execution
  const call = (given: object) => running.client.call('executions.answer', { execution_id, ask_id: ask.id, ...given })
  expect(await refusalOf(call({}))).toBe('validation_failed')
  expect(await refusalOf(call({ option_id: 'nothing' }))).toBe('validation_failed')
  expect(await refused(call({ option_id: 'reject', text: 'Why?' }))).toMatchObject({
    code: 'validation_failed',
    details: { issues: [{ path: 'text' }] },
  })
  const unknown = running.client.call('executions.answer', { execution_id, ask_id: 'no-such', option_id: 'allow' })
  expect(await refused(unknown)).toMatchObject({ code: 'not_found', details: { resource: 'ask' } })

  await call({ option_id: 'reject' })
  expect(await refusalOf(call({ option_id: 'allow' }))).toBe('already_answered')
  const second = await asked(job, execution, ([one]) => one?.target === 'two')
  await answer(job, execution, second, 'allow')
  expect(await ended(job, execution)).toMatchObject({ summary: 'Answered: my-reject_once my-allow_once.' })
  expect(await refusalOf(call({ option_id: 'allow' }))).toBe('execution_not_running')
})

test.concurrent('asks an agent that may edit only about what leads out of the worktree', async () => {
  await using job = await startJob()
  const outside = join(job.running.dataDir, 'outside.txt')
  const execution = await begin(job, 'worktree', [write('inside.txt'), write(outside), write('.git/config')])
  const first = await asked(job, execution, () => true)
  expect(first.text).toBe(`Asks to write ${outside}`)
  expect(first.diff).toEqual({ path: outside, old_text: null, new_text: 'x\n' })
  await answer(job, execution, first, 'reject')
  const second = await asked(job, execution, ([one]) => one?.id !== first.id)
  expect(second.target).toBe('.git/config')
  await answer(job, execution, second, 'reject')
  expect(await ended(job, execution)).toMatchObject({
    summary: 'Answered: my-allow_once my-reject_once my-reject_once.',
  })
  expect(existsSync(outside)).toBe(false)
})

test.concurrent('does not ask again about what is allowed for the run', async () => {
  await using job = await startJob()
  const calls = [run('make'), run('make'), write('a.txt'), write('b.txt'), run('make all')]
  const execution = await begin(job, 'ask', calls)
  await answer(job, execution, await asked(job, execution, () => true), 'allow_always')
  await answer(job, execution, await asked(job, execution, ([one]) => one?.target === 'a.txt'), 'allow_always')
  const last = await asked(job, execution, ([one]) => one?.action === 'run')
  expect(last.detail).toBe('make all')
  await answer(job, execution, last, 'reject')
  const allowed = Array.from({ length: 4 }, () => 'my-allow_once').join(' ')
  expect(await ended(job, execution)).toMatchObject({ summary: `Answered: ${allowed} my-reject_once.` })
})

test.concurrent('answers Claude Code over stdin, with reasons and its questions', async () => {
  await using job = await startJob()
  const questions = [
    { question: 'Which colour?', options: [{ label: 'Blue' }, { label: 'Red', description: 'Like blood' }] },
    { question: 'Which sizes?', multiSelect: true, options: [{ label: 'S' }, { label: 'M' }] },
  ]
  const config = {
    command: await writeAskingClaude(job.running.dataDir, [
      { tool_name: 'Edit', input: { file_path: 'a.ts', old_string: 'a', new_string: 'b' } },
      { tool_name: 'Bash', input: { command: 'npm publish' } },
      { tool_name: 'mcp__svc__svc_note', input: { text: 'x' } },
      { tool_name: 'AskUserQuestion', input: { questions } },
    ]),
    permissions: 'worktree' as const,
  }
  const agent = await job.running.client.call('agents.create', { name: 'Claude', executor: 'claude-code', config })
  const { execution } = await job.claim(await job.task(), agent)
  const first = await asked(job, execution, () => true)
  expect(first).toMatchObject({ text: 'Wants to run npm publish', tool: 'Bash', takes_text: true })
  await answer(job, execution, first, 'reject', 'Never from here.')
  const colour = await asked(job, execution, ([one]) => one?.text === 'Which colour?')
  expect(colour).toMatchObject({ kind: 'question', action: null, multiple: false, takes_text: true })
  expect(colour.options[1]).toEqual({ id: '2', label: 'Red', description: 'Like blood', kind: 'choice' })
  await answer(job, execution, colour, '2')
  const sizes = await asked(job, execution, ([one]) => one?.text === 'Which sizes?')
  expect(sizes.multiple).toBe(true)
  const { id: execution_id } = execution
  await job.running.client.call('executions.answer', { execution_id, ask_id: sizes.id, text: 'S, M' })

  const told = JSON.stringify({ 'Which colour?': 'Red', 'Which sizes?': 'S, M' })
  expect(await ended(job, execution)).toMatchObject({
    summary: `Answered: allow deny (A person refused this: Never from here.) allow allow${told}`,
  })
})

test.concurrent('withdraws a question when its agent ends', async () => {
  await using job = await startJob()
  const execution = await begin(job, 'ask', [run('sleep')])
  const ask = await asked(job, execution, () => true)
  const stopped = await job.running.client.call('executions.stop', { execution_id: execution.id })
  expect(stopped.execution).toMatchObject({ status: 'stopped' })
  expect(stopped.execution.asks).toBeUndefined()
  const { items } = await job.running.client.call('notifications.list', { project_id: job.project.id })
  expect(items).toEqual([])
  expect(await refusalOf(answer(job, execution, ask, 'allow'))).toBe('execution_not_running')
})

test.concurrent('hides secrets in a request', async () => {
  await using job = await startJob()
  await job.settings({ redaction_patterns: ['hunter\\d'] })
  const execution = await begin(job, 'ask', [run('login --password hunter2')])
  const ask = await asked(job, execution, () => true)
  expect(JSON.stringify(ask)).not.toContain('hunter2')
  expect(ask.detail).toContain('[redacted]')
  await answer(job, execution, ask, 'reject')
  await ended(job, execution)
})

test.concurrent('asks no one under `all`, and refuses other policies for agents that can’t ask', async () => {
  await using job = await startJob()
  const { client } = job.running
  const execution = await begin(job, 'all', [run('make'), write('/nowhere/else')].slice(0, 1))
  expect(await ended(job, execution)).toMatchObject({ summary: 'Answered: my-allow_once.' })
  const { items } = await client.call('notifications.list', { project_id: job.project.id })
  expect(items.filter(({ event_type }) => event_type === 'execution.asks')).toEqual([])

  const config = { command: 'true', permissions: 'ask' } as const
  const made = client.call('agents.create', { name: 'No', executor: 'command', config })
  expect(await refused(made)).toMatchObject({
    code: 'validation_failed',
    details: { issues: [{ path: 'config.permissions' }] },
  })
  const agent = await job.agent('true')
  expect(await refusalOf(client.call('agents.update', { agent_id: agent.id, config }))).toBe('validation_failed')
  // A daemon's agent decides by itself, because no one here could answer it.
  const { daemon, token } = await client.call('daemons.create', { name: 'Elsewhere' })
  const agents = [{ name: 'Hosted', executor: 'claude-code' as const, config: { permissions: 'ask' as const } }]
  await job.running.clientWith(token).call('daemons.report', { daemon_id: daemon.id, agents })
  const hosted = (await client.call('agents.list', {})).items.find(({ name }) => name === 'Hosted')
  const task = await job.task()
  const claim = client.call('tasks.claim', { task_id: task.id, agent_id: hosted?.id })
  expect(await refused(claim)).toMatchObject({ code: 'validation_failed' })
})

test.concurrent('says of an agent that must ask and does not, while it runs and at the review', async () => {
  await using job = await startJob()
  const { client } = job.running
  const config = { command, permissions: 'ask' as const }
  const agent = await client.call('agents.create', { name: 'Rash', executor: 'acp', config })
  const does = [run('npm test'), write('a.txt'), { title: 'Read b', kind: 'read', rawInput: { path: 'b.txt' } }]
  const told = `<does>${JSON.stringify(does)}</does> <asks>${JSON.stringify([write('c.txt')])}</asks>`
  const task = await job.task({ description: `Do it. ${told}` })
  const { execution } = await job.claim(task, agent)
  const ask = await asked(job, execution, () => true)
  const entries = await job.running.eventually(
    () => transcript(job, execution),
    (all) => all.some(({ type }) => type === 'error'),
  )
  const errors = entries.flatMap((entry) => (entry.type === 'error' ? [entry.text] : []))
  expect(errors).toEqual([
    expect.stringMatching(/^The agent ran npm test without asking, although its permissions are `ask`/),
  ])
  await answer(job, execution, ask, 'allow')
  const reviewed = await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const { items } = await client.call('tasks.reviews', { task_id: reviewed.id })
  const [review] = items
  // What it asked for, and what it may do alone, is no note.
  expect(review?.notes).toEqual([{ kind: 'unasked', count: 2, actions: ['ran npm test', 'wrote a.txt'] }])
  expect(review?.status).toBe('running')
})

test.concurrent('knows what a stopped agent has used that tells it when it is asked to end its turn', async () => {
  await using job = await startJob()
  const execution = await begin(job, 'ask', [run('npm test')])
  await asked(job, execution, () => true)
  await job.running.client.call('executions.stop', { execution_id: execution.id })
  expect(await ended(job, execution)).toMatchObject({
    ...{ status: 'stopped', usage: { input_tokens: 300, output_tokens: 60, cost_usd: null, turns: 1 } },
  })
})

test.concurrent('passes a form of an ACP agent on as questions, unless the agent may ask nothing', async () => {
  await using job = await startJob()
  const { client } = job.running
  const schema = { type: 'object', properties: { unit: { type: 'string', enum: ['km', 'mi'] } } }
  const start = async (permissions: PermissionPolicy) => {
    const agent = await client.call('agents.create', {
      name: permissions,
      executor: 'acp',
      config: { command, permissions },
    })
    const task = await job.task({ description: `<form>${JSON.stringify(schema)}</form>` })
    return (await job.claim(task, agent)).execution
  }
  const execution = await start('worktree')
  const ask = await asked(job, execution, () => true)
  expect(ask).toMatchObject({ kind: 'question', text: 'Which one?', options: [{ label: 'km' }, { label: 'mi' }] })
  await answer(job, execution, ask, '2')
  await ended(job, execution)
  expect(JSON.stringify(await transcript(job, execution))).toContain(
    String.raw`{\"action\":\"accept\",\"content\":{\"unit\":\"mi\"}}`,
  )

  const free = await start('all')
  await ended(job, free)
  expect(JSON.stringify(await transcript(job, free))).toContain('no forms')
})
