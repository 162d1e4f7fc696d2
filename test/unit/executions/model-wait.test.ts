import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { ExecutionOutcome } from '../../../src-main/ports/executors.ts'
import { createModelWait, withRefusal } from '../../../src-main/executions/model-wait.ts'

const at = '2026-11-21T12:00:00.000Z'

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(at) })
})
afterEach(() => {
  vi.useRealTimers()
})

function startWait(executor: ExecutorProfile = 'qwen') {
  const said: string[] = []
  const told: TranscriptEntry[] = []
  const record = {
    id: ExecutionId.parse('0198f000-0000-7000-8000-000000000001'),
    task_id: TaskId.parse('0198f000-0000-7000-8000-000000000002'),
    project_id: ProjectId.parse('0198f000-0000-7000-8000-000000000003'),
  }
  const feed = { activity: ({ text }: { readonly text: string }) => void said.push(text) }
  let hopeless = 0
  const wait = createModelWait({
    ...{ feed, record, executor, now: Date.now },
    tell: (entry) => told.push(entry),
    onHopeless: () => (hopeless += 1),
  })
  return {
    wait,
    said,
    hopeless: () => hopeless,
    told: () => told.flatMap((entry) => ('text' in entry ? entry.text : [])),
  }
}

const prompt: TranscriptEntry = { type: 'prompt', at, text: 'Go.' }
const message: TranscriptEntry = { type: 'message', at, text: 'I begin.' }
const call: TranscriptEntry = {
  ...{ type: 'tool_call', at, id: 'call-1', tool: 'bash', action: 'run', target: 'npm test', input: null, diff: null },
}

test('says after 20 s that the model has not answered, with the last error', () => {
  const { wait, said, told } = startWait()
  wait.add(prompt)
  vi.advanceTimersByTime(5_000)
  // Neither is an answer.
  wait.add({ type: 'stderr', at, text: 'retrying' })
  wait.add({ type: 'error', at, text: '429 Too Many Requests' })
  vi.advanceTimersByTime(14_999)
  expect([said, wait.since()]).toEqual([[], null])
  vi.advanceTimersByTime(1)
  expect(said).toEqual(["The model hasn't answered for 20 s"])
  expect(told()).toEqual([
    "The model hasn't answered for 20 s. The agent may be repeating its request. The last error was: 429 Too Many Requests",
  ])
  expect(wait.since()).toBe(Date.parse(at))
  wait.add(message)
  expect(wait.since()).toBeNull()
})

test('says so once of each wait, and of later ones only if they are twice as long', () => {
  const { wait, said } = startWait()
  wait.add(prompt)
  vi.advanceTimersByTime(600_000)
  expect(said).toHaveLength(1)
  wait.add(message)
  vi.advanceTimersByTime(39_999)
  expect(said).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(said).toEqual(["The model hasn't answered for 20 s", "The model hasn't answered for 40 s"])
})

test('does not count the time of a tool, of a question, or after the end', () => {
  const { wait, said } = startWait()
  wait.add(prompt)
  wait.add(call)
  vi.advanceTimersByTime(600_000)
  wait.add({ type: 'tool_result', at, id: 'call-1', ok: true, text: '' })
  vi.advanceTimersByTime(19_000)
  wait.add({ type: 'question', at, text: 'May I?' })
  vi.advanceTimersByTime(600_000)
  wait.add({ type: 'answer', at, ask_id: 'ask-1', text: 'Yes', by: 'user:local' })
  vi.advanceTimersByTime(19_000)
  wait.end()
  vi.advanceTimersByTime(600_000)
  expect(said).toEqual([])
})

test('says only on the card that a command is silent, which may be no agent', () => {
  const { wait, said, told } = startWait('command')
  wait.add(prompt)
  vi.advanceTimersByTime(20_000)
  expect([said, told()]).toEqual([['No output for 20 s'], []])
})

test('names what the network shows, and gives up a wait for a reset that is far', () => {
  const refusal = { host: '127.0.0.1:4000', status: 429, resets_at: '2026-11-21T14:00:00.000Z' }
  const far = startWait()
  far.wait.add(prompt)
  far.wait.answered(refusal)
  far.wait.answered(refusal)
  vi.advanceTimersByTime(20_000)
  expect(far.told()).toEqual(["The model hasn't answered for 20 s. 127.0.0.1:4000 answered 429, 2 times."])
  expect([far.hopeless(), far.wait.refusal()]).toEqual([1, refusal])

  const near = startWait()
  near.wait.add(prompt)
  near.wait.answered({ ...refusal, resets_at: new Date(Date.now() + 60_000).toISOString() })
  vi.advanceTimersByTime(20_000)
  expect(near.hopeless()).toBe(0)
  near.wait.add(message)
  near.wait.answered({ host: 'other.test', status: 200, resets_at: null })
  expect(near.wait.refusal()).not.toBeNull()
  near.wait.answered({ ...refusal, status: 200 })
  expect(near.wait.refusal()).toBeNull()
})

test('adds to the end of a run what the network showed', () => {
  const outcome: ExecutionOutcome = {
    ...{ ended: 'exited', exit_code: 1, session_id: 's', usage: null, conclusion: 'silent', message: 'No luck.' },
  }
  const refusal = { host: 'model.test', status: 429, resets_at: '2026-11-21T14:00:00.000Z' }
  expect(withRefusal(outcome, null, false)).toBe(outcome)
  expect(withRefusal(outcome, refusal, false)).toMatchObject({
    message: 'No luck. (model.test answered 429.)',
    usage_limit: { resets_at: refusal.resets_at },
  })
  const told = { ...outcome, usage_limit: { resets_at: null, account: 'Team' } }
  expect(withRefusal(told, refusal, false).usage_limit).toEqual({ account: 'Team', resets_at: refusal.resets_at })
  expect(withRefusal({ ...outcome, ended: 'stopped', exit_code: 143 }, refusal, true)).toMatchObject({
    ...{ ended: 'exited', exit_code: 1, message: 'model.test answered 429.' },
    usage_limit: { resets_at: refusal.resets_at },
  })
  const done: ExecutionOutcome = { ...outcome, exit_code: 0, conclusion: 'done' }
  expect(withRefusal(done, refusal, false)).toBe(done)
  expect(withRefusal(outcome, { ...refusal, status: 401 }, false)).toMatchObject({
    message: 'No luck. (model.test answered 401.)',
  })
})
