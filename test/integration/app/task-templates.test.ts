import { expect, test } from 'vitest'
import { attachmentMarkdown } from '../../../src-shared/contract/attachment-text.ts'
import type { EventPayload } from '../../../src-shared/contract/events.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refused } from '../../helpers/refusal.ts'

type News = Omit<EventPayload<'task_template.updated'>, 'occurred_at'>

const save = (job: Job, more: Partial<OperationInput<'task_templates.create'>> = {}) =>
  job.running.client.call('task_templates.create', { project_id: job.project.id, name: 'Bug', ...more })
const names = async (job: Job) =>
  (await job.running.client.call('task_templates.list', { project_id: job.project.id })).items.map(({ name }) => name)

/** All events about templates, up to a new task that marks the end. */
async function templateNews(job: Job): Promise<News[]> {
  const end = await job.task({ title: 'The end of the news' })
  const news: News[] = []
  for await (const item of job.running.client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event') continue
    const { type, data } = item.event
    if (type === 'task.created' && data.task_id === end.id) return news
    if (type !== 'task_template.updated') continue
    const { occurred_at: _, ...told } = data
    news.push(told)
  }
  throw new Error('The events ended before the news did.')
}

test.concurrent('saves, lists, edits and deletes a template, with an event for each', async () => {
  await using job = await startJob()
  const { client } = job.running
  const reviewer = await job.agent('true', 'Reviewer')
  const [repo] = job.project.repos
  const whole = {
    name: ' Bug ',
    title: 'Fix: ',
    description: 'What happens, and what should.',
    priority: 3,
    labels: ['bug'],
    review_config: { ci_steps: ['npm test'] },
    roles: { reviewer: { type: 'agent' as const, id: reviewer.id } },
    repo_id: repo?.id ?? null,
  }
  const bug = await save(job, whole)
  expect(bug).toMatchObject({ ...whole, name: 'Bug', project_id: job.project.id })
  const empty = await save(job, { name: 'a chore' })
  expect(empty).toMatchObject({
    ...{ title: '', description: null, priority: 0, labels: [], review_config: {}, roles: {}, repo_id: null },
  })
  expect(await names(job)).toEqual(['a chore', 'Bug'])
  const edited = await client.call('task_templates.update', { template_id: bug.id, name: 'Defect', priority: 4 })
  expect(edited).toEqual({ ...bug, name: 'Defect', priority: 4, updated_at: edited.updated_at })
  expect(await client.call('task_templates.get', { template_id: bug.id })).toEqual(edited)
  await client.call('task_templates.delete', { template_id: bug.id })
  expect(await names(job)).toEqual(['a chore'])
  expect(await refused(client.call('task_templates.get', { template_id: bug.id }))).toMatchObject({
    code: 'not_found',
    message: "This task template doesn't exist.",
    details: { resource: 'task_template' },
  })
  const of = { project_id: job.project.id, template_id: bug.id }
  expect(await templateNews(job)).toEqual([
    { ...of, template: bug },
    { ...of, template_id: empty.id, template: empty },
    { ...of, template: edited },
    { ...of, template: null },
  ])
})

test.concurrent('gives a name to one template of a project, in any case', async () => {
  await using job = await startJob()
  const { client } = job.running
  const bug = await save(job, { name: 'Änderung' })
  expect(await refused(save(job, { name: 'änderung' }))).toMatchObject({
    code: 'validation_failed',
    message: 'Another template has the name änderung. Choose another.',
    details: { issues: [{ path: 'name' }] },
  })
  const chore = await save(job, { name: 'Chore' })
  const rename = client.call('task_templates.update', { template_id: chore.id, name: 'ÄNDERUNG' })
  expect((await refused(rename)).code).toBe('validation_failed')
  // Its own name in other case is no other's.
  await client.call('task_templates.update', { template_id: bug.id, name: 'ÄNDERUNG' })
  expect(await names(job)).toEqual(['Chore', 'ÄNDERUNG'])
})

test.concurrent('accepts roles of the workflow, with agents and people of the project', async () => {
  await using job = await startJob()
  const { client } = job.running
  const stranger = await register(job.running, 'Stranger')
  const agent = await job.agent('true')
  const asAgent = { type: 'agent' as const, id: agent.id }
  const codes = [
    save(job, { roles: { pilot: asAgent } }),
    save(job, { roles: { coder: { type: 'user', id: stranger.user_id } } }),
    save(job, { roles: { coder: { type: 'agent', id: stranger.user_id } } }),
    save(job, { repo_id: agent.id }),
  ].map(async (one) => (await refused(one)).code)
  expect(await Promise.all(codes)).toEqual(['unknown_role', 'not_a_member', 'not_found', 'validation_failed'])
  const bug = await save(job, { roles: { coder: asAgent } })
  expect(bug.roles).toEqual({ coder: asAgent })
  // A deleted agent is left out, and the rest of the template stays.
  await client.call('agents.delete', { agent_id: agent.id })
  const { roles } = await client.call('task_templates.get', { template_id: bug.id })
  expect(roles).toEqual({})
})

test.concurrent('creates a template from a task, without what the task took from its project', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ default_review_config: { ci_steps: ['npm test'], review_prompt: 'Be kind.' } })
  const agent = await job.agent('true')
  const task = await job.task({
    ...{ title: 'Update all', description: 'One by one.', priority: 1, labels: ['chore'] },
    review_config: { ci_steps: ['npm run check'] },
  })
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: agent.id })
  const template = await save(job, { name: 'Updates', task_id: task.id, title: 'Update ' })
  expect(template).toMatchObject({
    ...{ name: 'Updates', title: 'Update ', description: 'One by one.', priority: 1, labels: ['chore'] },
    review_config: { ci_steps: ['npm run check'] },
    ...{ roles: { reviewer: { type: 'agent', id: agent.id } }, repo_id: null },
  })
  expect(template.review_config).not.toHaveProperty('review_prompt')
  const plain = await save(job, { name: 'Plain', task_id: (await job.task()).id })
  expect(plain).toMatchObject({ title: 'A task', review_config: {} })
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const elsewhere = client.call('task_templates.create', { project_id: other.id, name: 'Mine', task_id: task.id })
  expect(await refused(elsewhere)).toMatchObject({
    code: 'validation_failed',
    details: { issues: [{ path: 'task_id' }] },
  })
})

test.concurrent('lets members use and change templates, agents read them, and no one else', async () => {
  await using job = await startJob()
  const bug = await save(job)
  const member = await register(job.running, 'Member')
  const stranger = await register(job.running, 'Stranger')
  await addMember(job.running, job.project.id, member.user_id, 'member')
  const of = { template_id: bug.id }
  expect((await member.client.call('task_templates.update', { ...of, priority: 2 })).priority).toBe(2)
  expect((await refused(stranger.client.call('task_templates.get', of))).code).toBe('not_a_member')
  const list = stranger.client.call('task_templates.list', { project_id: job.project.id })
  expect((await refused(list)).code).toBe('not_a_member')
  await member.client.call('task_templates.delete', of)
  expect(await names(job)).toEqual([])
})

test.concurrent('stores no files in a template', async () => {
  await using job = await startJob()
  const { client } = job.running
  const image = await client.call('attachments.create', {
    project_id: job.project.id,
    name: 'shot.png',
    data_base64: Buffer.from('not really a picture').toString('base64'),
  })
  const description = `Before\n\n${attachmentMarkdown(image)}\n\nSee ${attachmentMarkdown(image)} there.`
  expect((await save(job, { description })).description).toBe('Before\n\n\nSee  there.')
})
