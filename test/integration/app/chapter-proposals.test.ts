import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import type { Chapters } from '../../../src-shared/contract/chapters.ts'
import { startJob } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { tokenOfRun } from '../../helpers/run-token.ts'
import { told, worked } from '../../helpers/told-chapters.ts'

const idsOf = ({ chapters }: Chapters): readonly string[] => chapters.flatMap(({ hunks }) => hunks.map(({ id }) => id))
const base = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'yarn.lock': 'l\n' }
const changed = { 'a.txt': 'a2\n', 'b.txt': 'b2\n', 'c.txt': 'c2\n', 'yarn.lock': 'l2\n' }

/** A task with four changed files, the last of them folded. */
async function changedTask(options: Parameters<typeof worked>[1] = {}) {
  const scene = await worked(base, options)
  await scene.job.repository.write(changed, scene.path)
  const rules = await told(scene.client, scene.task_id)
  const at = (path: string): string =>
    rules.chapters.flatMap(({ hunks }) => hunks).find((hunk) => hunk.path === path)?.id ?? ''
  const tree = rules.tree ?? ''
  return { ...scene, rules, tree, at }
}

test('shows the words and order of a proposal, but folds and kinds of the rules, also after a restart', async () => {
  const scene = await changedTask({ keepData: true })
  const { job, client, task_id, tree, at } = scene
  await using _ = job
  const chapters = [
    { title: 'The end first', why: 'Because c decides.', hunks: [at('c.txt'), at('yarn.lock')] },
    { title: 'The rest', why: '', hunks: [at('b.txt'), at('a.txt')] },
  ]
  const answer = await client.call('tasks.propose_chapters', { task_id, tree, chapters })
  expect(answer).toMatchObject({ tree, source: 'agent', by: 'user:owner', pending: false, rejected: null })
  const shown = ({ chapters: all }: Chapters): unknown =>
    all.map(({ title, why, kind, folded, hunks }) => [title, why, kind, folded, hunks.map(({ path }) => path)])
  const [folded] = scene.rules.chapters.filter((chapter) => chapter.folded)
  expect(shown(answer)).toEqual([
    ['The end first', 'Because c decides.', 'other', false, ['c.txt']],
    ['The rest', '', 'other', false, ['b.txt', 'a.txt']],
    [folded?.title, folded?.why, 'generated', true, ['yarn.lock']],
  ])
  expect(answer.risks).toEqual(scene.rules.risks)
  job.running = await job.running.restart()
  expect(shown(await told(job.running.client, task_id))).toEqual(shown(answer))
  // Another tree has the words of the rules again, and the one before those of the proposal.
  await job.repository.write({ 'a.txt': 'a3\n' }, scene.path)
  expect(await told(job.running.client, task_id)).toMatchObject({ source: 'rules', by: null, rejected: null })
  await job.repository.write({ 'a.txt': changed['a.txt'] }, scene.path)
  expect(await told(job.running.client, task_id)).toMatchObject({ source: 'agent', by: 'user:owner' })
})

test('tells clients of a proposal', async () => {
  const { job, client, task_id, tree, rules } = await changedTask()
  await using _ = job
  await client.call('tasks.propose_chapters', {
    task_id,
    tree,
    chapters: [{ title: 'All', why: '', hunks: [...idsOf(rules)] }],
  })
  const stop = new AbortController()
  for await (const item of client.events({}, 0, stop.signal)) {
    if (item.kind !== 'event' || item.event.type !== 'chapters.updated') continue
    expect(item.event.data).toMatchObject({ task_id, tree })
    break
  }
  stop.abort()
})

test('refuses a proposal that leaves out, doubles or invents a hunk, and says so to readers', async () => {
  const { job, client, task_id, tree, at, rules } = await changedTask()
  await using _ = job
  const propose = (hunks: readonly string[]) =>
    refused(
      client.call('tasks.propose_chapters', {
        task_id,
        tree,
        chapters: [{ title: 'All', why: '', hunks: [...hunks] }],
      }),
    )
  const all = idsOf(rules)
  const without = all.filter((id) => id !== at('b.txt'))
  for (const [hunks, details] of [
    [without, { missing: [at('b.txt')], duplicate: [], unknown: [] }],
    [[...all, at('b.txt')], { missing: [], duplicate: [at('b.txt')], unknown: [] }],
    [[...all, 'invented'], { missing: [], duplicate: [], unknown: ['invented'] }],
    [[...without, at('a.txt'), 'x'], { missing: [at('b.txt')], duplicate: [at('a.txt')], unknown: ['x'] }],
    [[], { missing: [...all], duplicate: [], unknown: [] }],
  ] as const) {
    const error = await propose(hunks)
    expect(error).toMatchObject({ code: 'chapters_incomplete', status: 400, details })
  }
  expect(await told(client, task_id)).toMatchObject({
    source: 'rules',
    by: null,
    rejected: { by: 'user:owner', missing: all.length, duplicate: 0, unknown: 0 },
  })
  // A later one that fits takes its place; a bad one after that leaves it there.
  await client.call('tasks.propose_chapters', { task_id, tree, chapters: [{ title: 'All', why: '', hunks: [...all] }] })
  expect(await told(client, task_id)).toMatchObject({ source: 'agent', rejected: null })
  await propose(without)
  expect(await told(client, task_id)).toMatchObject({ source: 'agent', rejected: { missing: 1 } })
})

test('refuses a proposal for other work, and one for a task without work', async () => {
  const { job, client, task_id, tree, rules, path } = await changedTask()
  await using _ = job
  const chapters = [{ title: 'All', why: '', hunks: [...idsOf(rules)] }]
  await job.repository.write({ 'a.txt': 'a3\n' }, path)
  const now = (await told(client, task_id)).tree
  const late = await refused(client.call('tasks.propose_chapters', { task_id, tree, chapters }))
  expect(late).toMatchObject({ code: 'work_changed', status: 409, details: { tree: now } })
  expect(await told(client, task_id)).toMatchObject({ source: 'rules', rejected: null })
  const idle = await job.task()
  expect(await refusalOf(client.call('tasks.propose_chapters', { task_id: idle.id, tree, chapters }))).toBe(
    'work_changed',
  )
})

test('takes titles and reasons as text of a bounded size, without secrets and without what reverses text', async () => {
  const { job, client, task_id, tree, rules } = await changedTask()
  await using _ = job
  const hunks = [...idsOf(rules)]
  const propose = (title: string, why = '') =>
    client.call('tasks.propose_chapters', { task_id, tree, chapters: [{ title, why, hunks }] })
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const { chapters } = await propose(
    ` <b onclick="x()">One</b>\n\n**two** \u202ethree `,
    `[link](javascript:x)\nThe token ${secret}\u0007`,
  )
  expect(chapters[0]).toMatchObject({ title: '<b onclick="x()">One</b> **two** three' })
  expect(chapters[0]?.why).toContain('[link](javascript:x)\nThe token ')
  expect(chapters[0]?.why).not.toContain(secret)
  for (const [title, why] of [
    ['', ''],
    [' \u202e ', ''],
    ['x'.repeat(121), ''],
    ['x', 'x'.repeat(601)],
  ] as const)
    expect(await refusalOf(propose(title, why)), title).toBe('validation_failed')
  const many = Array.from({ length: 10_000 }, () => ({ title: 'x', why: '', hunks: [] }))
  expect(await refusalOf(client.call('tasks.propose_chapters', { task_id, tree, chapters: many }))).toBe(
    'validation_failed',
  )
})

test('lets members and the run of the task propose, and no run of another task', async () => {
  const { job, client, task_id, tree, rules } = await changedTask()
  await using _ = job
  const proposal = { task_id, tree, chapters: [{ title: 'All', why: '', hunks: [...idsOf(rules)] }] }
  const other = job.running.clientWith(await tokenOfRun(job))
  expect(await refusalOf(other.call('tasks.propose_chapters', proposal))).toBe('forbidden')
  expect(await refusalOf(job.running.clientWith(null).call('tasks.propose_chapters', proposal))).toBe('missing_token')
  expect((await client.call('tasks.propose_chapters', proposal)).source).toBe('agent')
})

/** Reads the chapters with the token of the run, and proposes one of its own that holds all hunks. */
const proposing = `
  const { SVC_API_URL, SVC_API_TOKEN, SVC_TASK_ID } = process.env;
  const headers = { authorization: "Bearer " + SVC_API_TOKEN, "content-type": "application/json" };
  const url = SVC_API_URL + "/api/v1/tasks/" + SVC_TASK_ID + "/chapters";
  const read = async () => {
    const told = await (await fetch(url, { headers })).json();
    return told.pending ? read() : told;
  };
  read().then(async ({ tree, chapters }) => {
    const hunks = chapters.flatMap((chapter) => chapter.hunks.map((hunk) => hunk.id));
    const body = JSON.stringify({ tree, chapters: [{ title: "All of it", why: "It is small.", hunks }] });
    const answer = await fetch(url, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
  })`

test('asks the coder in its prompt if the project says so, and shows its chapters to the reviewer of the same tree', async () => {
  await using job = await startJob({ files: { 'a.txt': 'a\n' } })
  await job.settings({ chapters: 'coder' })
  const agent = await job.agent(
    `echo b > a.txt; git commit --quiet --all --message Work; '${process.execPath}' -e '${proposing}'`,
  )
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const { client } = job.running
  const { prompt, parts } = await client.call('executions.prompt', { execution_id: execution.id })
  expect(parts.map(({ kind }) => kind)).toContain('chapters')
  expect(prompt).toContain('divide the change of the whole branch into chapters')
  expect(await told(client, task.id)).toMatchObject({
    source: 'agent',
    by: `agent:${agent.id}`,
    chapters: [{ title: 'All of it', why: 'It is small.', folded: false }],
  })
  const coder = await client.call('tasks.prompt', { task_id: task.id, role: 'coder' })
  expect(coder.parts.some(({ kind }) => kind === 'chapters')).toBe(true)
  await job.settings({ chapters: 'reviewer' })
  const kindsFor = async (role: string) =>
    (await client.call('tasks.prompt', { task_id: task.id, role })).parts.map(({ kind }) => kind)
  expect(await kindsFor('coder')).not.toContain('chapters')
  expect(await kindsFor('reviewer')).toContain('chapters')
})

test('lets an agent read hunks and propose chapters with its tools, and says what is wrong with them', async () => {
  const { job, client, task_id, rules } = await changedTask()
  await using _ = job
  const mcp = new Client({ name: 'tests', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${job.running.token}` } }
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${job.running.url}/api/v1/mcp`), { requestInit }))
  try {
    const { structuredContent: read } = await mcp.callTool({ name: 'svc_get_task_chapters', arguments: { task_id } })
    const { tree } = read as Chapters
    const hunks = idsOf(read as Chapters)
    expect(hunks).toEqual(idsOf(rules))
    const propose = (ids: readonly string[]) =>
      mcp.callTool({
        name: 'svc_propose_chapters',
        arguments: { task_id, tree, chapters: [{ title: 'All', why: 'It is small.', hunks: ids }] },
      })
    const refusal = await propose(hunks.slice(1))
    expect(refusal.isError).toBe(true)
    expect(JSON.stringify(refusal.content)).toContain('chapters_incomplete')
    const { structuredContent: told } = await propose(hunks)
    expect(told).toMatchObject({ tree, chapters: [{ title: 'All', folded: false }, { folded: true }] })
  } finally {
    await mcp.close()
  }
  expect(await client.call('tasks.chapters', { task_id })).toMatchObject({ source: 'agent' })
})
