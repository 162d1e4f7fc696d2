import { expect, test } from 'vitest'
import type { KnowledgeEntry } from '../../../src-shared/contract/knowledge.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { knowledgeNews } from '../../helpers/knowledge-news.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { smallWorkflow } from '../../helpers/small-workflow.ts'

const write = (job: Job, title: string, body: string) =>
  job.running.client.call('knowledge.create', { project_id: job.project.id, title, body })

/** All pages of a list, as titles. */
async function pages(job: Job, more: { q?: string; limit: number }): Promise<string[][]> {
  const all: string[][] = []
  let cursor: string | null | undefined
  do {
    const page = await job.running.client.call('knowledge.list', {
      project_id: job.project.id,
      ...more,
      ...(cursor && { cursor }),
    })
    expect(page.has_more).toBe(page.next_cursor !== null)
    all.push(page.items.map((one) => one.title))
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

test.concurrent('finds, edits and deletes what a person wrote', async () => {
  await using job = await startJob()
  const { client } = job.running
  const entry = await write(job, ' Ports ', 'Use 4870.')
  expect(entry).toMatchObject({
    project_id: job.project.id,
    title: 'Ports',
    body: 'Use 4870.',
    source: { by: 'user:owner', task_id: null, execution_id: null },
    edited_by: null,
  })
  expect(await client.call('knowledge.get', { knowledge_id: entry.id })).toEqual(entry)
  const edited = await client.call('knowledge.update', { knowledge_id: entry.id, body: 'Use 4871.' })
  expect(edited).toEqual({ ...entry, body: 'Use 4871.', edited_by: 'user:owner', updated_at: edited.updated_at })
  expect(await client.call('knowledge.get', { knowledge_id: entry.id })).toEqual(edited)
  expect(await pages(job, { q: '4871', limit: 5 })).toEqual([['Ports']])
  expect(await pages(job, { q: '4870', limit: 5 })).toEqual([[]])
  await client.call('knowledge.delete', { knowledge_id: entry.id })
  expect(await refusalOf(client.call('knowledge.get', { knowledge_id: entry.id }))).toBe('not_found')
  expect(await refusalOf(client.call('knowledge.update', { knowledge_id: entry.id, body: 'x' }))).toBe('not_found')
  expect(await pages(job, { limit: 5 })).toEqual([[]])
})

test.concurrent('sends an event for each entry that is written, edited or deleted', async () => {
  await using job = await startJob()
  const { client } = job.running
  const entry = await write(job, 'Ports', 'Use 4870.')
  const edited = await client.call('knowledge.update', { knowledge_id: entry.id, body: 'Use 4871.' })
  await client.call('knowledge.delete', { knowledge_id: entry.id })
  const of = { project_id: job.project.id, knowledge_id: entry.id }
  expect(await knowledgeNews(job)).toEqual([
    { ...of, entry },
    { ...of, entry: edited },
    { ...of, entry: null },
  ])
})

test.concurrent('lists the newest first, in pages, and nothing twice while entries are added', async () => {
  await using job = await startJob()
  for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) await write(job, title, 'Something.')
  expect(await pages(job, { limit: 2 })).toEqual([['Five', 'Four'], ['Three', 'Two'], ['One']])
  const first = await job.running.client.call('knowledge.list', { project_id: job.project.id, limit: 3 })
  await write(job, 'Six', 'Something.')
  const rest = await job.running.client.call('knowledge.list', {
    project_id: job.project.id,
    limit: 3,
    cursor: first.next_cursor ?? '',
  })
  expect(rest.items.map((one) => one.title)).toEqual(['Two', 'One'])
})

test.concurrent('lists the most relevant first for a search, in pages', async () => {
  await using job = await startJob()
  await write(job, 'Kitchen', 'Nothing about the topic.')
  await write(job, 'Logs', 'The mailer writes its log there.')
  await write(job, 'Mailer', 'The mailer needs STARTTLS; without it the mailer is silent.')
  await write(job, 'Notes', 'One day the mailer will go, they say, but nobody knows when that will be.')
  const [first, second] = await pages(job, { q: 'the mailer?', limit: 2 })
  expect(first?.[0]).toBe('Mailer')
  expect([...(first ?? []), ...(second ?? [])]).toContain('Notes')
  const all = (await pages(job, { q: 'mailer', limit: 1 })).flat()
  expect(all[0]).toBe('Mailer')
  expect([...all].sort()).toEqual(['Logs', 'Mailer', 'Notes'])
  // Any input is words to look for, never an expression.
  expect(await pages(job, { q: '") OR title:*', limit: 5 })).toEqual([[]])
  // A blank query finds nothing.
  expect((await pages(job, { q: '  ', limit: 10 }))[0]).toHaveLength(4)
})

test.concurrent('accepts a cursor only in the list that returned it', async () => {
  await using job = await startJob()
  for (const title of ['One', 'Two', 'Three']) await write(job, title, 'Word.')
  const project_id = job.project.id
  const list = (more: { q?: string; cursor?: string }) =>
    job.running.client.call('knowledge.list', { project_id, limit: 1, ...more })
  const [newest, found] = [await list({}), await list({ q: 'word' })]
  expect(await refusalOf(list({ q: 'word', cursor: newest.next_cursor ?? '' }))).toBe('validation_failed')
  expect(await refusalOf(list({ cursor: found.next_cursor ?? '' }))).toBe('validation_failed')
  expect(await refusalOf(list({ cursor: 'nonsense' }))).toBe('validation_failed')
})

test.concurrent("never stores secrets that match the project's patterns", async () => {
  await using job = await startJob()
  await job.settings({ redaction_patterns: ['key-[0-9]+'] })
  const entry = await write(job, 'The key-1', 'Use key-2 here.')
  expect([entry.title, entry.body]).toEqual(['The [redacted]', 'Use [redacted] here.'])
  const edited = await job.running.client.call('knowledge.update', { knowledge_id: entry.id, body: 'Or key-3.' })
  expect(edited.body).toBe('Or [redacted].')
  expect(await job.running.client.call('knowledge.get', { knowledge_id: entry.id })).toEqual(edited)
})

/** A run that writes an entry, tries to change, accept and delete the given ones, and prints the answers' statuses. */
const writes = (mine: string, theirs = mine) => {
  const script = `
    const { SVC_API_URL, SVC_API_TOKEN, SVC_PROJECT_ID } = process.env;
    const ask = (method, path, body) => fetch(SVC_API_URL + "/api/v1" + path, {
      method, headers: { authorization: "Bearer " + SVC_API_TOKEN, "content-type": "application/json" }, body: JSON.stringify(body) });
    const knowledge = "/projects/" + SVC_PROJECT_ID + "/knowledge";
    (async () => {
      const made = await ask("POST", knowledge, { title: "Database", body: "By an agent." });
      const { id } = await made.json();
      const answers = [made, await ask("PATCH", "/knowledge/${mine}", { body: "Changed." }), await ask("DELETE", "/knowledge/${mine}"),
        await ask("POST", "/knowledge/" + id + "/accept", {}), await ask("GET", "/knowledge/" + id), await ask("GET", "/knowledge/${theirs}")];
      const proposed = await (await ask("GET", knowledge + "?status=proposed")).json();
      console.log(answers.map((one) => one.status).join(" "), proposed.items.length);
    })()`
  return `'${process.execPath}' -e '${script}'`
}
const listed = async (job: Job, status: KnowledgeEntry['status']) =>
  (await job.running.client.call('knowledge.list', { project_id: job.project.id, status })).items

test.concurrent('keeps what a run writes as a proposal, and lets it change, delete and accept none', async () => {
  await using job = await startJob({ workflow: smallWorkflow({}) })
  const mine = await write(job, 'Mine', 'By a person.')
  const agent = await job.agent(writes(mine.id))
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect((await job.executions(task.id))[0]?.summary).toContain('201 403 403 403 200 200 1')
  expect(await listed(job, 'accepted')).toEqual([mine])
  expect(await listed(job, 'proposed')).toMatchObject([
    {
      title: 'Database',
      body: 'By an agent.',
      status: 'proposed',
      accepted_by: null,
      source: { by: `agent:${agent.id}`, task_id: task.id, execution_id: execution.id },
    },
  ])
  // The proposals of a task are hidden from the runs of others.
  const [proposal] = await listed(job, 'proposed')
  const second = await job.task()
  await job.claim(second, await job.agent(writes(mine.id, proposal?.id), 'Second'))
  await job.running.taskWhere(second.id, (one) => one.status === 'done')
  expect((await job.executions(second.id))[0]?.summary).toContain('201 403 403 403 200 404 1')
})

test.concurrent('accepts a proposal once, as it is or edited, and rejects it by deleting it', async () => {
  await using job = await startJob({ workflow: smallWorkflow({}) })
  const { client } = job.running
  const mine = await write(job, 'Mine', 'By a person.')
  const propose = `${writes(mine.id)}; ${writes(mine.id)}; ${writes(mine.id)}`
  const task = await job.task()
  await job.claim(task, await job.agent(propose))
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  const [first, second, third, ...others] = await listed(job, 'proposed')
  expect([others.length, third?.status]).toEqual([0, 'proposed'])
  const { items } = await client.call('notifications.list', {})
  expect(items.filter((one) => one.event_type === 'knowledge.proposed')).toMatchObject([
    { task_id: task.id, body: null },
  ])
  const accept = (entry: KnowledgeEntry | undefined, more: { body?: string } = {}) =>
    client.call('knowledge.accept', { knowledge_id: entry?.id ?? '', ...more })
  expect(await accept(first)).toMatchObject({ status: 'accepted', accepted_by: 'user:owner', edited_by: null })
  expect(await accept(second, { body: 'Better.' })).toMatchObject({
    body: 'Better.',
    accepted_by: 'user:owner',
    edited_by: 'user:owner',
  })
  expect(await refusalOf(accept(first))).toBe('already_answered')
  await client.call('knowledge.delete', { knowledge_id: third?.id ?? '' })
  expect(await listed(job, 'proposed')).toEqual([])
  expect(await listed(job, 'accepted')).toHaveLength(3)
})
