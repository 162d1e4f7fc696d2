import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { attachmentMarkdown } from '../../../src-shared/contract/attachment-text.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import { present } from '../../helpers/present.ts'

/** An agent that saves its standard input outside its worktree, works, and ends as `end` says. */
const keeping = (name: string, end = 'echo done') =>
  `cat > "$SVC_REPO_PATH/.git/${name}.txt"; echo work > work.txt; ${end}`
const kept = (job: Job, name: string) => readFile(`${job.repository.path}/.git/${name}.txt`, 'utf8')
const missing = (): never => {
  throw new Error('The file was not stored.')
}
const kinds = ({ parts }: Prompt) => parts.map(({ kind }) => kind)
const preview = (job: Job, task_id: string, role?: string) =>
  job.running.client.call('tasks.prompt', { task_id, ...(role !== undefined && { role }) })

test.concurrent('previews exactly the prompt that the run gets and shows', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({
    prompt_templates: { coder: 'As {{role}}, from {{base_branch}}:\n\n{{knowledge}}\n\nBe brief.' },
  })
  const { id: project_id } = job.project
  await client.call('knowledge.create', { project_id, title: 'Postgres', body: 'The database listens on port 5499.' })
  const parent = await job.task({ title: 'Store things', description: 'In {{knowledge}} order.' })
  const task = await job.task({
    title: 'Connect to the {{diff}} database',
    description: 'Say $& {{title}} twice.',
    parent_id: parent.id,
    subtask_mode: 'independent',
  })
  await client.call('comments.create', { task_id: task.id, body: 'Mind {{role}} the timeout.' })

  const before = await preview(job, task.id)
  expect(before).toMatchObject({ role: 'coder', agent_id: null, resumed: false })
  expect(kinds(before)).toEqual(['task', 'template', 'knowledge', 'template', 'context', 'comments'])
  expect(before.prompt).toContain('Say $& {{title}} twice.')
  expect(before.prompt).toContain('As coder, from main:\n\nNotes from people')
  expect(before.prompt).toContain('In {{knowledge}} order.')
  expect(before.prompt).toContain('> Mind {{role}} the timeout.')
  expect(before.parts.map(({ text }) => text).join('')).toBe(before.prompt)
  expect(before.parts.reduce((sum, { characters }) => sum + characters, 0)).toBe(before.characters)

  const { execution } = await job.claim(task, await job.agent(keeping('coder')))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  expect(await kept(job, 'coder')).toBe(before.prompt)
  const after = await client.call('executions.prompt', { execution_id: execution.id })
  expect(after.prompt).toBe(before.prompt)
  expect(after.parts).toEqual(before.parts)
})

test.concurrent('previews the prompt of a draft as its task gets it, and stores nothing', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { id: project_id } = job.project
  await job.settings({ prompt_templates: { coder: 'As {{role}}:\n\n{{knowledge}}\n\nBe brief.' } })
  await client.call('knowledge.create', { project_id, title: 'Postgres', body: 'The database listens on port 5499.' })
  const parent = await job.task({ title: 'Store things', description: 'In order.' })
  const first = await job.task({ title: 'Draw the schema', description: 'All tables.' })
  const [shot, log] = await Promise.all(
    ['shot.png', 'run.log'].map((name) =>
      client.call('attachments.create', { project_id, name, data_base64: Buffer.from(name).toString('base64') }),
    ),
  )
  const agent = await job.agent(keeping('coder'))
  const draft = {
    title: ' Connect to the database ',
    description: `Like ${attachmentMarkdown(log ?? missing())}, not ${attachmentMarkdown(shot ?? missing())}.`,
    review_config: { review_prompt: 'Is it quick?' },
    parent_id: parent.id,
  }
  const more = { dependencies: [first.id], roles: { coder: { type: 'agent' as const, id: agent.id } } }
  const before = await client.call('tasks.draft_prompt', { project_id, ...draft, ...more })
  expect(before).toMatchObject({ role: 'coder', agent_id: agent.id, resumed: false })
  expect(before.prompt).toContain('port 5499')
  expect(before.prompt).toContain('Draw the schema')
  expect(before.prompt).toContain('.copse/attachments/run.log')
  const judging = await client.call('tasks.draft_prompt', { project_id, ...draft, ...more, role: 'reviewer' })
  expect(judging.prompt).toContain('Is it quick?')
  const list = () => client.call('tasks.list', { project_id, include_archived: true })
  expect((await list()).items.map(({ title }) => title).toSorted()).toEqual(['Draw the schema', 'Store things'])

  const task = await job.task(draft)
  await client.call('tasks.add_dependency', { task_id: task.id, depends_on_id: first.id })
  await client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: agent.id })
  expect(await preview(job, task.id)).toEqual(before)
  expect(await preview(job, task.id, 'reviewer')).toEqual(judging)
})

test.concurrent('previews no prompt for an invalid draft', async () => {
  await using job = await startJob()
  const { client } = job.running
  const draft = { project_id: job.project.id, title: 'Draft' }
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const elsewhere = await client.call('tasks.create', { project_id: other.id, title: 'Elsewhere' })
  const codes = [
    client.call('tasks.draft_prompt', { ...draft, role: 'gardener' }),
    client.call('tasks.draft_prompt', { ...draft, roles: { gardener: { type: 'user', id: other.id } } }),
    client.call('tasks.draft_prompt', { ...draft, dependencies: [elsewhere.id] }),
    client.call('tasks.draft_prompt', { ...draft, parent_id: elsewhere.id }),
    client.call('tasks.draft_prompt', { ...draft, status: 'done' }),
  ].map(async (one) => (await refused(one)).code)
  expect(await Promise.all(codes)).toEqual([
    ...['unknown_role', 'unknown_role', 'cross_project_dependency', 'validation_failed', 'validation_failed'],
  ])
})

test.concurrent('previews a reviewer’s prompt with checks and change', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps: ['test -f work.txt'] } })
  const reviewer = await job.agent(keeping('reviewer', 'exit 3'), 'Reviewer')
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  const early = await preview(job, task.id, 'reviewer')
  expect(early.prompt).toContain('Nothing has changed on this branch.')
  await job.claim(task, await job.agent(keeping('coder')))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  const now = await preview(job, task.id)
  expect(now).toMatchObject({ role: 'reviewer', agent_id: reviewer.id })
  expect(kinds(now).slice(-2)).toEqual(['checks', 'change'])
  expect(now.prompt).toContain('+work')
  expect(await kept(job, 'reviewer')).toBe(now.prompt)
})

test.concurrent('tries a template before it is saved, and refuses unknown placeholders', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ title: 'Try' })
  const tried = await client.call('tasks.try_template', {
    task_id: task.id,
    role: 'coder',
    template: 'Mine.\n{{task}}',
  })
  expect(tried.prompt).toBe('Mine.\n# Try')
  await job.settings({ prompt_templates: { coder: 'Kept.' } })
  expect((await preview(job, task.id)).prompt).toBe('# Try\n\nKept.')
  const ours = await client.call('tasks.try_template', { task_id: task.id, template: null })
  expect(ours.prompt).toContain('## How to work')
  await job.settings({ prompt_templates: {} })
  expect((await preview(job, task.id)).prompt).toBe(ours.prompt)

  const answer = await refused(
    client.call('projects.update_settings', {
      project_id: job.project.id,
      prompt_templates: { coder: 'Fine', reviewer: 'Look at {{patch}}' },
    }),
  )
  expect(answer).toMatchObject({
    code: 'validation_failed',
    details: { issues: [{ path: 'prompt_templates.reviewer' }] },
  })
  expect(answer.message).toContain("{{patch}} isn't a placeholder")
  const nobody = await refused(client.call('tasks.prompt', { task_id: task.id, role: 'gardener' }))
  expect(nobody.code).toBe('unknown_role')
})

test.concurrent('uses only the prompt that a claim brings', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const agent = await job.agent(keeping('coder'))
  const overrides = { prompt: 'Only {{task}} this' }
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id, overrides })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  const told = await client.call('executions.prompt', { execution_id: present(execution).id })
  expect(told.parts).toMatchObject([{ kind: 'given', text: 'Only {{task}} this', characters: 18, tokens: 5 }])
  expect(await kept(job, 'coder')).toBe('Only {{task}} this')
})
