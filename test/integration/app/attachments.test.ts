import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { attachmentMarkdown, maxAttachmentBytes } from '../../../src-shared/contract/attachment-text.ts'
import type { OperationOutput } from '../../../src-shared/contract/operations.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const day = 24 * 3_600_000

type Uploaded = OperationOutput<'attachments.create'>
const upload = (job: Job, name: string, bytes: Buffer | string, task_id?: string): Promise<Uploaded> =>
  job.running.client.call('attachments.create', {
    project_id: job.project.id,
    name,
    data_base64: Buffer.from(bytes).toString('base64'),
    ...(task_id !== undefined && { task_id }),
  })
const ofTask = async (job: Job, task_id: string) =>
  (await job.running.client.call('attachments.list', { task_id })).items.map(({ name }) => name)
/** The names of the stored files. */
const stored = async (job: Job) =>
  (await readdir(join(job.running.dataDir, 'attachments'), { recursive: true }).catch(() => [])).filter((name) =>
    /[0-9a-f]{64}$/.test(name),
  )
const ask = (job: Job, path: string, init: RequestInit = {}) =>
  fetch(`${job.running.url}/api/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${job.running.token}`, ...(init.headers as object) },
  })

test.concurrent('assigns a pasted file to the task whose description or comment names it', async () => {
  await using job = await startJob()
  const { client } = job.running
  const image = await upload(job, '/tmp/Screen shot.png', png)
  expect(image).toMatchObject({ name: 'Screen shot.png', media_type: 'image/png', size: png.length, task_id: null })
  const task = await job.task({ description: `Like ${attachmentMarkdown(image)}` })
  const log = await upload(job, 'run.log', 'it failed\n')
  await client.call('comments.create', { task_id: task.id, body: `See ${attachmentMarkdown(log)}` })
  const later = await upload(job, 'more.txt', 'more')
  await client.call('tasks.update', { task_id: task.id, description: `${attachmentMarkdown(later)}` })
  const direct = await upload(job, 'direct.txt', 'direct', task.id)
  expect(direct.task_id).toBe(task.id)
  expect(await ofTask(job, task.id)).toEqual(['Screen shot.png', 'run.log', 'more.txt', 'direct.txt'])
  // Another task can't take the first one's file.
  const other = await job.task({ description: attachmentMarkdown(image) })
  expect(await ofTask(job, other.id)).toEqual([])
  const back = await client.call('attachments.download', { attachment_id: image.id })
  expect(back).toEqual({ name: 'Screen shot.png', media_type: 'image/png', data_base64: png.toString('base64') })
})

test.concurrent('serves a file to members only, never as something that a browser runs', async () => {
  await using job = await startJob()
  const image = await upload(job, 'Übersicht "1".png', png)
  const page = await upload(job, 'page.png', '<script>alert(1)</script>')
  const svg = await upload(job, 'x.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
  const shown = await ask(job, `/attachments/${image.id}/content`)
  expect(shown.status).toBe(200)
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-disposition': `inline; filename="_bersicht 1.png"; filename*=UTF-8''%C3%9Cbersicht%201.png`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'no-store',
  })
  expect(Buffer.from(await shown.arrayBuffer()).equals(png)).toBe(true)
  for (const { id } of [page, svg]) {
    const { headers } = await ask(job, `/attachments/${id}/content`)
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(/^attachment;/)
  }
  expect((await fetch(`${job.running.url}/api/v1/attachments/${image.id}/content`)).status).toBe(401)
  const stranger = await register(job.running, 'Stranger')
  const attachment_id = image.id
  expect(await refusalOf(stranger.client.call('attachments.download', { attachment_id }))).toBe('not_a_member')
  expect(await refusalOf(stranger.client.call('attachments.delete', { attachment_id }))).toBe('not_a_member')
  await addMember(job.running, job.project.id, stranger.user_id, 'member')
  expect((await stranger.client.call('attachments.download', { attachment_id })).media_type).toBe('image/png')
})

test.concurrent('refuses what is too large, too much, empty or of another project, and says what to do', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { id: project_id } = job.project
  const big = await refused(upload(job, 'big.bin', Buffer.alloc(maxAttachmentBytes + 1)))
  expect(big).toMatchObject({ code: 'payload_too_large', status: 413 })
  expect(big.message).toBe('The file is over the limit of 10 MB. Link to it instead.')
  const huge = await refused(upload(job, 'huge.bin', Buffer.alloc(maxAttachmentBytes + 1_000_000)))
  expect(huge).toMatchObject({ code: 'payload_too_large', message: 'The request body is over the limit of 13 MB.' })
  expect((await upload(job, 'most.bin', Buffer.alloc(maxAttachmentBytes))).media_type).toBe('application/octet-stream')
  expect(await refusalOf(upload(job, 'none', ''))).toBe('validation_failed')
  const no64 = client.call('attachments.create', { project_id, name: 'x', data_base64: 'no base64' })
  expect(await refusalOf(no64)).toBe('validation_failed')

  // Other routes keep their limit.
  const body = JSON.stringify({ title: 'x', description: 'y'.repeat(6_000_000) })
  const headers = { 'content-type': 'application/json' }
  const long = await ask(job, `/projects/${project_id}/tasks`, { method: 'POST', body, headers })
  expect(long.status).toBe(413)

  const task = await job.task()
  for (let n = 0; n < 50; n++) await upload(job, `${n}.txt`, `${n}`, task.id)
  const more = await refused(upload(job, 'more.txt', 'more', task.id))
  expect(more.message).toBe('A task has at most 50 files and 100 MB. Delete files that it no longer needs.')
  const spare = await upload(job, 'spare.txt', 'spare')
  const description = attachmentMarkdown(spare)
  const full = client.call('tasks.update', { task_id: task.id, description })
  expect(await refusalOf(full)).toBe('payload_too_large')
  expect((await client.call('tasks.get', { task_id: task.id })).description).toBeNull()

  const elsewhere = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const wrong = { project_id: elsewhere.id, task_id: task.id, name: 'x', data_base64: 'eA==' }
  expect(await refusalOf(client.call('attachments.create', wrong))).toBe('validation_failed')
  await client.call('tasks.create', { project_id: elsewhere.id, title: 'Theirs', description })
  expect(await ofTask(job, (await job.task({ description })).id)).toEqual(['spare.txt'])
})

test.concurrent('stores equal content once, and removes it with its last task', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [one, two] = [await job.task(), await job.task()]
  await upload(job, 'a.txt', 'same', one.id)
  const copy = await upload(job, 'b.txt', 'same', two.id)
  const gone = await upload(job, 'c.txt', 'other', one.id)
  expect(await stored(job)).toHaveLength(2)
  await client.call('tasks.delete', { task_id: one.id })
  expect(await refusalOf(client.call('attachments.download', { attachment_id: gone.id }))).toBe('not_found')
  expect(await stored(job)).toEqual([join(copy.sha256.slice(0, 2), copy.sha256)])
  await client.call('attachments.delete', { attachment_id: copy.id })
  expect(await stored(job)).toEqual([])
})

test.concurrent('removes a file that nothing names after a week', async () => {
  let now = Date.parse('2026-11-21T09:00:00.000Z')
  await using job = await startJob({ clock: { now: () => now } })
  const kept = await upload(job, 'kept.txt', 'kept')
  await job.task({ description: attachmentMarkdown(kept) })
  await upload(job, 'left.txt', 'left')
  now += 6 * day
  job.running = await job.running.restart()
  await job.running.eventually(
    () => stored(job),
    (names) => names.length === 2,
  )
  now += 2 * day
  job.running = await job.running.restart()
  await expect.poll(() => stored(job), { timeout: 100_000 }).toEqual([join(kept.sha256.slice(0, 2), kept.sha256)])
})

test.concurrent('redacts secrets in a file’s name', async () => {
  await using job = await startJob()
  await job.settings({ redaction_patterns: ['ACME-[0-9]+'] })
  expect((await upload(job, 'dump ACME-4711.txt', 'x')).name).not.toContain('4711')
})

test.concurrent('puts the files into the worktree, as the prompt says, and commits none', async () => {
  await using job = await startJob()
  const image = await upload(job, 'a shot.png', png)
  const task = await job.task({ description: `Draw ${attachmentMarkdown(image)}.` })
  await upload(job, 'notes.txt', 'Use blue.\n', task.id)
  const preview = await job.running.client.call('tasks.prompt', { task_id: task.id })
  const agent = await job.agent(
    'cat > prompt.md; cp ".copse/attachments/a-shot.png" got.png; cat .copse/attachments/notes.txt > notes.md; git add -A; git commit -qm work',
  )
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const prompt = await readFile(join(path, 'prompt.md'), 'utf8')
  expect(prompt).toBe(preview.prompt)
  expect(prompt).toContain('Draw ![a shot.png](.copse/attachments/a-shot.png).')
  expect(prompt).toContain('- .copse/attachments/notes.txt (text/plain, 1 KB)')
  expect((await readFile(join(path, 'got.png'))).equals(png)).toBe(true)
  const diff = await job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(diff.files.map((file) => file.path).sort()).toEqual(['got.png', 'notes.md', 'prompt.md'])
})

test.concurrent('follows no link out of the worktree', async () => {
  await using job = await startJob()
  const task = await job.task()
  await upload(job, 'notes.txt', 'secret plan', task.id)
  const outside = join(job.running.dataDir, 'outside')
  await writeFile(outside, 'mine')
  const { path } = await job.claim(task, await job.agent('rm -rf .copse; ln -s / .copse; exit 3'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(await readFile(join(path, '.copse', outside), 'utf8')).toBe('mine')
  await job.running.client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null && one.active_execution_id === null)
  expect((await readdir('/')).includes('attachments')).toBe(false)
})

/** A program that records each line it reads, and answers like its agent. */
async function agentThatNotes(job: Job, name: string, answers: string): Promise<{ command: string; heard: string }> {
  const heard = join(job.running.dataDir, `${name}.jsonl`)
  const path = join(job.running.dataDir, name)
  const lines = [
    `#!${process.execPath}`,
    `const { appendFileSync } = require('node:fs')`,
    `const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n')`,
    `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {`,
    `  appendFileSync(${JSON.stringify(heard)}, line + '\\n')`,
    `  const message = JSON.parse(line)`,
    answers,
    `})`,
  ]
  await writeFile(path, lines.join('\n'))
  await chmod(path, 0o755)
  return { command: path, heard }
}
const acp = (image: boolean) => `
  const { id, method } = message
  const result = { initialize: { protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: ${image} } } },
    'session/new': { sessionId: 's1' }, 'session/prompt': { stopReason: 'end_turn' } }[method]
  if (method === 'session/prompt') say({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1',
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Seen.' } } } })
  if (result) say({ jsonrpc: '2.0', id, result })`
const claude = `
  say({ type: 'assistant', session_id: 's1', message: { content: [{ type: 'text', text: 'Seen.' }] } })
  say({ type: 'result', session_id: 's1', subtype: 'success', is_error: false, result: 'Seen.' })`

test.concurrent('passes pictures with the prompt to agents that accept them', async () => {
  await using job = await startJob()
  const { client } = job.running
  const blocks = async (executor: 'acp' | 'claude-code', name: string, answers: string) => {
    const { command, heard } = await agentThatNotes(job, name, answers)
    const image = await upload(job, 'shot.png', png)
    const task = await job.task({ description: `Like ${attachmentMarkdown(image)}` })
    const agent = await client.call('agents.create', { name, executor, config: { command } })
    await job.claim(task, agent)
    await job.running.taskWhere(task.id, (one) => one.status === 'review' || one.error_annotation !== null)
    const lines = (await readFile(heard, 'utf8')).trim().split('\n')
    return lines.map(
      (line) =>
        JSON.parse(line) as { method?: string; params?: { prompt: unknown[] }; message?: { content: unknown[] } },
    )
  }
  const data = png.toString('base64')
  const text = { type: 'text', text: expect.stringContaining('.copse/attachments/shot.png') as string }
  const taking = (await blocks('acp', 'taking', acp(true))).find(({ method }) => method === 'session/prompt')
  expect(taking?.params?.prompt).toEqual([{ type: 'image', mimeType: 'image/png', data }, text])
  const blind = (await blocks('acp', 'blind', acp(false))).find(({ method }) => method === 'session/prompt')
  expect(blind?.params?.prompt).toEqual([text])
  const spoken = (await blocks('claude-code', 'claude', claude)).find(({ message }) => message !== undefined)
  expect(spoken?.message?.content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    text,
  ])
})
