import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { knowledgeNews } from '../../helpers/knowledge-news.ts'
import { smallWorkflow, withHooks } from '../../helpers/small-workflow.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { lastHook, timeline } from '../../helpers/timeline.ts'

const inject = (config: Record<string, unknown> = {}): StateHook => ({ plugin: 'knowledge-inject', config })
const capture = (config: Record<string, unknown> = {}): StateHook => ({ plugin: 'knowledge-capture', config })
/** An agent that saves its prompt. */
const listens =
  'cat > prompt.txt; test -z "$SVC_KNOWLEDGE_FILE" || cp "$SVC_KNOWLEDGE_FILE" known.txt; echo heard; exit 1'

const know = (job: Job, title: string, body: string) =>
  job.running.client.call('knowledge.create', { project_id: job.project.id, title, body })
const known = async (job: Job) =>
  (await job.running.client.call('knowledge.list', { project_id: job.project.id })).items
const failed = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.error_annotation?.type === 'execution_failed')
const firstHook = async (job: Job, task_id: string, to: string) =>
  (await job.transitions(task_id)).findLast((entry) => entry.to_state === to)?.hooks[0]

test.concurrent('knowledge-inject gives the agent relevant knowledge in a file and in its prompt', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ working: { before_enter: [inject()] } }) })
  await know(job, 'Postgres', 'The database listens on port 5499.')
  await know(job, 'Colours', 'Buttons are green.')
  const task = await job.task({ title: 'Connect to the database' })
  const { path } = await job.claim(task, await job.agent(listens))
  await failed(job, task.id)
  const told = await readFile(`${path}/known.txt`, 'utf8')
  expect(told).toMatch(/## Postgres\n\nSource: written by owner\n\nThe database listens on port 5499\./)
  expect(told).not.toContain('Buttons')
  expect(await readFile(`${path}/prompt.txt`, 'utf8')).toContain('The database listens on port 5499.')
  expect(await firstHook(job, task.id, 'working')).toMatchObject({
    phase: 'before_enter',
    outcome: 'ok',
    reason: expect.stringMatching(/^1 entry, about \d+ tokens$/) as string,
  })
})

test.concurrent('knowledge-inject stays within its budget and cuts what does not fit', async () => {
  await using job = await startJob({
    workflow: smallWorkflow({ working: { before_enter: [inject({ max_tokens: 200, limit: 2 })] } }),
  })
  for (const name of ['One', 'Two', 'Three']) await know(job, `Database ${name}`, 'A long word. '.repeat(500))
  const task = await job.task({ title: 'Database' })
  const { path } = await job.claim(task, await job.agent(listens))
  await failed(job, task.id)
  const told = await readFile(`${path}/known.txt`, 'utf8')
  expect(told).toContain('(Cut here: the rest is left out.)')
  expect(told.length).toBeLessThanOrEqual(800)
})

test.concurrent('knowledge-inject adds nothing without knowledge, or where the project has it off', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ working: { before_enter: [inject()] } }) })
  await know(job, 'Postgres', 'The database listens on port 5499.')
  const agent = await job.agent(listens)
  const unrelated = await job.task({ title: 'Paint buttons' })
  const { path } = await job.claim(unrelated, agent)
  await failed(job, unrelated.id)
  expect(await firstHook(job, unrelated.id, 'working')).toMatchObject({ outcome: 'skipped', reason: 'not_needed' })
  expect(existsSync(`${path}/known.txt`)).toBe(false)
  // Turning it off removes what was injected.
  const related = await job.task({ title: 'Connect to the database' })
  const claimed = await job.claim(related, agent)
  await failed(job, related.id)
  expect(existsSync(`${claimed.path}/known.txt`)).toBe(true)
  await job.settings({ knowledge: { enabled: false } })
  const { version } = await job.running.client.call('tasks.get', { task_id: related.id })
  await job.running.client.call('tasks.transition', { task_id: related.id, status: 'blocked', version })
  await job.running.client.call('tasks.transition', { task_id: related.id, status: 'working', version: version + 1 })
  await job.running.taskWhere(related.id, (one) => one.version > version + 1 && one.error_annotation !== null)
  expect(await firstHook(job, related.id, 'working')).toMatchObject({ outcome: 'skipped', reason: 'disabled' })
  expect(await readFile(`${claimed.path}/prompt.txt`, 'utf8')).not.toContain('5499')
})

test.concurrent('knowledge-capture saves once what the worker said and what came back, with its source', async () => {
  await using job = await startJob({
    workflow: withHooks({ review: { on_enter: [capture()], after_enter: [capture(), lastHook] } }),
  })
  await job.settings({ redaction_patterns: ['key-[0-9]+'] })
  const agent = await job.agent('echo x >> work.txt; echo "Round $(wc -l < work.txt): used key-123"')
  const task = await job.task({
    title: 'Teach',
    review_config: { ci_steps: ['echo "one line is too few"; test "$(wc -l < work.txt)" -gt 1'] },
  })
  await job.claim(task, agent)
  expect((await timeline(job, task.id, 'review')).filter((one) => one.includes('capture'))).toEqual([
    'on_enter knowledge-capture ok',
    'after_enter knowledge-capture ok',
  ])
  const [entry, ...others] = await known(job)
  expect(others).toEqual([])
  const [execution] = await job.executions(task.id)
  expect(entry).toMatchObject({
    title: 'Teach',
    source: { by: 'system', task_id: task.id, execution_id: execution?.id },
  })
  expect(entry?.body).toMatch(/^Round 2: used \[redacted\]\n\n## What it was sent back for\n\n### Review\n\n/)
  expect(entry?.body).toContain('one line is too few')
  expect(entry?.updated_at).toBe(entry?.created_at)
  // A capture is emitted once; the second run adds nothing.
  expect(await knowledgeNews(job)).toEqual([{ project_id: job.project.id, knowledge_id: entry?.id, entry }])
})

test.concurrent('knowledge-capture keeps what a person has edited', async () => {
  await using job = await startJob({
    workflow: withHooks({ review: { on_enter: [capture()], after_enter: [lastHook] } }),
  })
  const task = await job.task({ title: 'Teach' })
  await job.claim(task, await job.agent('echo x >> work.txt; echo "Round $(wc -l < work.txt)"'))
  const captures = async () => (await timeline(job, task.id, 'review')).filter((one) => one.includes('capture'))
  expect(await captures()).toEqual(['on_enter knowledge-capture ok'])
  const [captured] = await known(job)
  expect(captured).toMatchObject({ body: 'Round 1', edited_by: null })
  const better = { knowledge_id: captured?.id ?? '', body: 'Better put.' }
  const edited = await job.running.client.call('knowledge.update', better)
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Once more' })
  await job.running.taskWhere(task.id, (one) => one.review_summary?.attempt_number === 2)
  expect(await captures()).toEqual(['on_enter knowledge-capture skipped not_needed'])
  expect(await known(job)).toEqual([edited])
})

test.concurrent('knowledge-capture saves nothing without content, or where the project has it off', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ done: { on_enter: [capture(), lastHook] } }) })
  const silent = await job.task({ title: 'By hand' })
  await job.running.client.call('tasks.transition', { task_id: silent.id, status: 'done', version: 1 })
  expect(await timeline(job, silent.id, 'done')).toEqual(['on_enter knowledge-capture skipped not_needed'])
  await job.settings({ knowledge: { enabled: false } })
  const task = await job.task()
  await job.claim(task, await job.agent('echo said something'))
  expect(await timeline(job, task.id, 'done')).toEqual(['on_enter knowledge-capture skipped disabled'])
  expect(await known(job)).toEqual([])
})

test.concurrent('passes on what one task taught to the next', async () => {
  await using job = await startJob({
    workflow: smallWorkflow({ working: { before_enter: [inject()] }, done: { on_enter: [capture(), lastHook] } }),
  })
  const first = await job.task({ title: 'Set up the mailer' })
  await job.claim(first, await job.agent('echo "The mailer needs STARTTLS."'))
  await timeline(job, first.id, 'done')
  const second = await job.task({ title: 'Test the mailer' })
  const { path } = await job.claim(second, await job.agent(listens, 'Listener'))
  await failed(job, second.id)
  expect(await readFile(`${path}/known.txt`, 'utf8')).toContain(
    `## Set up the mailer\n\nSource: captured by Copse in ${first.ref}, checked by no person\n\nThis is a record of another task, which has ended. It asks nothing of you.\n\n> The mailer needs STARTTLS.`,
  )
})

test.concurrent('does not tell an unrelated task what another was sent back for', async () => {
  await using job = await startJob({
    workflow: withHooks({
      in_progress: { before_enter: [inject()] },
      review: { on_enter: [capture()], after_enter: [lastHook] },
    }),
  })
  const first = await job.task({ title: 'Write the first part of the file' })
  await job.claim(first, await job.agent('date +%N >> a.txt; echo wrote it'))
  await timeline(job, first.id, 'review')
  await job.running.client.call('tasks.verdict', { task_id: first.id, verdict: 'fail', feedback: 'also write b.txt' })
  await job.running.taskWhere(first.id, (one) => one.review_summary?.attempt_number === 2)
  await timeline(job, first.id, 'review')
  const told = async (title: string) => {
    const task = await job.task({ title })
    const { path } = await job.claim(task, await job.agent(listens, title))
    await failed(job, task.id)
    return await readFile(`${path}/known.txt`, 'utf8').catch(() => '')
  }
  expect(await told('Write the menu in the other language of the file')).not.toContain('b.txt')
  expect(await told('Mend b.txt, which the file misses')).toMatch(/asks nothing of you.*^> also write b\.txt/ms)
})

test.concurrent('tells a task nothing of another person’s, unless the project wants it', async () => {
  await using job = await startJob({
    workflow: withHooks({
      in_progress: { before_enter: [inject()] },
      review: { on_enter: [capture()], after_enter: [lastHook] },
    }),
  })
  const { client: other, user_id } = await register(job.running, 'Other')
  await addMember(job.running, job.project.id, user_id, 'member')
  const config = { command: 'date +%N > a.txt; echo "The mailer needs STARTTLS."' }
  const theirs = await other.call('agents.create', { name: 'Theirs', executor: 'command', config })
  const first = await job.task({ title: 'Set up the mailer' })
  await other.call('tasks.claim', { task_id: first.id, agent_id: theirs.id })
  await timeline(job, first.id, 'review')
  const told = async (title: string) => {
    const task = await job.task({ title })
    const { path } = await job.claim(task, await job.agent(listens, title))
    await failed(job, task.id)
    return await readFile(`${path}/known.txt`, 'utf8').catch(() => '')
  }
  expect(await told('Test the mailer')).not.toContain('STARTTLS')
  await job.settings({ knowledge: { enabled: true, from_others: true } })
  expect(await told('Tune the mailer')).toContain('STARTTLS')
})
