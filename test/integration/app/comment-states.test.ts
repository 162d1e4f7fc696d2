import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Comment } from '../../../src-shared/contract/comments.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refused, refusalOf } from '../../helpers/refusal.ts'

const files = { 'src/add.ts': Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('') }
/** Saves every prompt beside the repository, then does what its run says. */
const inTurn = (job: Job, ...runs: readonly string[]) => {
  const kept = `${job.repository.beside}/prompt`
  const cases = runs.map((run, n) => `${n}) ${run};;`).join(' ')
  return `n=$(ls '${kept}'-* 2>/dev/null | wc -l | tr -d " "); cat > '${kept}'-$n; case $n in ${cases} esac; echo done`
}
const promptOf = (job: Job, run: number) => readFile(join(job.repository.beside, `prompt-${run}`), 'utf8')
const write = (job: Job, task_id: string, body: string, more: { line?: number; parent_id?: string } = {}) =>
  job.running.client.call('comments.create', {
    task_id,
    body,
    ...(more.line !== undefined && { anchor: { path: 'src/add.ts', side: 'new' as const, line: more.line } }),
    ...(more.parent_id !== undefined && { parent_id: more.parent_id }),
  })
const statesOf = async (job: Job, task_id: string) =>
  (await job.running.client.call('comments.list', { task_id })).items.map(({ body, state }) => `${body}: ${state}`)
const found = async (job: Job, comment: Comment) => {
  const { items } = await job.running.client.call('comments.list', { task_id: comment.task_id })
  return items.find(({ id }) => id === comment.id)
}
const inReview = (job: Job, task_id: string, attempt: number) =>
  job.running.taskWhere(
    task_id,
    (one) => one.status === 'review' && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
  )

test.concurrent('keeps a sent comment open, and says what the next attempt did to its line', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const edit = `sed -i -e 's/line 7/line seven/' -e '1i top' src/add.ts`
  const agent = await job.agent(inTurn(job, `sed -i 's/line 3/line three/' src/add.ts`, edit, 'echo more >> b.txt'))
  const task = await job.task()
  await job.claim(task, agent)
  await inReview(job, task.id, 1)
  const changed = await write(job, task.id, 'Spell it out.', { line: 7 })
  const kept = await write(job, task.id, 'And this?', { line: 5 })
  const general = await write(job, task.id, 'In general: nice.')
  const { execution } = await client.call('tasks.feedback', { task_id: task.id })
  for (const one of [changed, kept, general])
    expect(await found(job, one)).toMatchObject({
      resolved_at: null,
      sent: { attempt: 1, execution_id: execution.id },
    })
  await inReview(job, task.id, 2)
  expect(await statesOf(job, task.id)).toEqual([
    'Spell it out.: answered',
    'And this?: sent',
    'In general: nice.: sent',
  ])
  expect((await found(job, changed))?.answer).toMatchObject({
    attempt: 2,
    comment_id: null,
    change: { line: 8, before: ['line 7'], after: ['line seven'], truncated: false },
  })

  // It is not sent again, and its text about the line does not change.
  const nothing = await refused(client.call('tasks.feedback', { task_id: task.id }))
  expect(nothing.message).toContain('every comment was sent or resolved')
  await client.call('tasks.feedback', { task_id: task.id, message: 'Once more.' })
  await inReview(job, task.id, 3)
  expect(await promptOf(job, 2)).toContain('Once more.')
  expect(await promptOf(job, 2)).not.toMatch(/Spell it out|And this|In general/)
  expect((await found(job, changed))?.answer).toMatchObject({ attempt: 2 })

  // A person resolves it.
  expect(await client.call('comments.update', { comment_id: changed.id, resolved: true })).toMatchObject({
    state: 'resolved',
  })
})

test.concurrent('sends a whole thread again when something is new in it, and no other', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const agent = await job.agent(inTurn(job, 'echo a > a.txt', 'echo b > b.txt', 'echo c > c.txt'))
  const task = await job.task()
  await job.claim(task, agent)
  await inReview(job, task.id, 1)
  const root = await write(job, task.id, 'Why?', { line: 2 })
  await write(job, task.id, 'Not this again.', { line: 4 })
  await client.call('tasks.feedback', { task_id: task.id })
  await inReview(job, task.id, 2)
  await write(job, task.id, 'I mean: why here?', { parent_id: root.id })
  const edited = await write(job, task.id, 'First words')
  expect(await statesOf(job, task.id)).toEqual([
    'Why?: sent',
    'Not this again.: sent',
    'I mean: why here?: draft',
    'First words: draft',
  ])
  await client.call('tasks.feedback', { task_id: task.id })
  await inReview(job, task.id, 3)
  expect(await promptOf(job, 2)).toContain('`src/add.ts:2`\nWhy?\n\n> Owner answered: I mean: why here?')
  expect(await promptOf(job, 2)).not.toContain('Not this again.')
  expect(await found(job, root)).toMatchObject({ state: 'sent', sent: { attempt: 2 } })
  // Other comments were not sent.
  const again = await client.call('comments.update', { comment_id: edited.id, body: 'Other words' })
  expect(again).toMatchObject({ state: 'draft', sent: null })
})

test.concurrent('lets the coder answer a thread with its token, and resolve it', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({ files })
  const { client } = job.running
  const place = join(job.repository.beside, 'token')
  const hold = `printf %s "$SVC_API_TOKEN" > '${place}'; ${beacon.hold('agent', 'sleep 1000')}`
  const agent = await job.agent(inTurn(job, 'echo a > a.txt', hold))
  const task = await job.task()
  await job.claim(task, agent)
  await inReview(job, task.id, 1)
  const [open, done] = [
    await write(job, task.id, 'Why?', { line: 2 }),
    await write(job, task.id, 'Rename it.', { line: 4 }),
  ]
  const { execution } = await client.call('tasks.feedback', { task_id: task.id })
  await beacon.alive('agent')
  const bound = job.running.clientWith(await readFile(place, 'utf8'))
  const reply = await bound.call('comments.create', { task_id: task.id, body: 'For speed.', parent_id: open.id })
  expect(await found(job, open)).toMatchObject({
    state: 'answered',
    answer: { attempt: 2, comment_id: reply.id, change: null },
  })
  // The coder does not need its own answer again.
  expect(reply).toMatchObject({ state: 'sent', author: { type: 'agent' } })
  const says = { task_id: task.id, body: 'Renamed.', parent_id: done.id, resolves: true }
  expect(await bound.call('comments.create', says)).toMatchObject({ state: 'resolved' })
  expect(await found(job, done)).toMatchObject({ state: 'resolved' })
  const alone = await refused(bound.call('comments.create', { task_id: task.id, body: 'Done.', resolves: true }))
  expect(alone.details).toMatchObject({ issues: [{ path: 'resolves' }] })
  const elsewhere = await job.task()
  const other = await write(job, elsewhere.id, 'Not yours')
  const foreign = { task_id: elsewhere.id, body: 'Done.', parent_id: other.id, resolves: true }
  expect(await refusalOf(bound.call('comments.create', foreign))).toBe('forbidden')
  await client.call('executions.stop', { execution_id: execution.id })
})

test.concurrent('turns comments of a withdrawn message into drafts again', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({ files })
  const { client } = job.running
  const task = await job.task()
  const { execution: run } = await job.claim(task, await job.agent(beacon.hold('agent', 'sleep 1000')))
  await beacon.alive('agent')
  const comment = await write(job, task.id, 'Later.', { line: 2 })
  const { execution } = await client.call('tasks.feedback', { task_id: task.id })
  expect(await found(job, comment)).toMatchObject({ state: 'sent', sent: { attempt: 0, execution_id: execution.id } })
  await client.call('executions.stop', { execution_id: execution.id })
  expect(await found(job, comment)).toMatchObject({ state: 'draft', sent: null })
  await client.call('executions.stop', { execution_id: run.id })
})

test.concurrent('a rejection takes the caller’s unsent comments along, or those that it names', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const agent = await job.agent(inTurn(job, 'echo 1 > b.txt', 'echo 2 > b.txt', 'echo 3 > b.txt'))
  const task = await job.task()
  await job.claim(task, agent)
  await inReview(job, task.id, 1)
  const first = await write(job, task.id, 'Spell it out.', { line: 7 })
  await write(job, task.id, 'And this?', { line: 5 })
  const feedback = 'Nearly there.'
  const rejected = await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback })
  expect(rejected.task).toMatchObject({ status: 'in_progress' })
  const again = (await job.executions(task.id)).find(({ status }) => status !== 'succeeded')
  expect((await found(job, first))?.sent).toMatchObject({ attempt: 1, execution_id: again?.id })
  await inReview(job, task.id, 2)
  const words = 'Nearly there.\n\n`src/add.ts:7`\nSpell it out.\n\n`src/add.ts:5`\nAnd this?'
  const prompt = await promptOf(job, 1)
  expect(prompt).toContain(words)
  expect(prompt.split('Spell it out.')).toHaveLength(2)
  expect((await job.transitions(task.id)).find((entry) => entry.rejection)).toMatchObject({ trigger_reason: words })
  expect(await job.executions(task.id)).toHaveLength(2)
  expect(await statesOf(job, task.id)).toEqual(['Spell it out.: sent', 'And this?: sent'])

  const taken = await write(job, task.id, 'Take me.', { line: 2 })
  await write(job, task.id, 'Leave me.', { line: 3 })
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', comment_ids: [taken.id] })
  await inReview(job, task.id, 3)
  expect(await promptOf(job, 2)).toContain('Take me.')
  expect(await promptOf(job, 2)).not.toContain('Leave me.')
  expect((await statesOf(job, task.id)).slice(2)).toEqual(['Take me.: sent', 'Leave me.: draft'])
})

test.concurrent('a rejection can leave the comments behind, and changes nothing when it names an unknown one', async () => {
  await using job = await startJob({ files })
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent(inTurn(job, 'echo 1 > b.txt', 'echo 2 > b.txt')))
  await inReview(job, task.id, 1)
  await write(job, task.id, 'Mine.', { line: 7 })
  const unknown = task.id as unknown as Comment['id']
  const asked = client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', comment_ids: [unknown] })
  expect(await refusalOf(asked)).toBe('not_found')
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('review')
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', comment_ids: [], feedback: 'No.' })
  await inReview(job, task.id, 2)
  expect(await promptOf(job, 1)).not.toContain('Mine.')
  expect(await statesOf(job, task.id)).toEqual(['Mine.: draft'])
})
