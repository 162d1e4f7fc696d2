import { describe, expect, test } from 'vitest'
import { actionsOf } from '../../../../src-renderer/features/board/moves/card-actions.ts'
import { taskLine } from '../../../../src-renderer/model/task-line.ts'
import { failureText } from '../../../../src-renderer/formatters/failure-text.ts'
import { stateOf } from '../../../../src-renderer/model/workflow-shape.ts'
import { ExecutionId, type AgentId } from '../../../../src-shared/contract/ids.ts'
import type { ErrorAnnotation, ReviewSummary, Task } from '../../../../src-shared/contract/tasks.ts'
import type { PullRequest } from '../../../../src-shared/contract/pull-requests.ts'
import { checkOf, pullOf } from '../pull-request-fixture.ts'
import { taskOf } from '../task-fixture.ts'
import { workflow } from '../workflow-fixture.ts'

const execution = ExecutionId.parse('01990006-0000-7000-8000-000000000001')
const condition = (rest: Partial<Task>, asks: string | null = null) => {
  const task = taskOf(1, rest)
  return taskLine({ base: 'main', task, state: stateOf(workflow, task.status), asks })
}
const review = (status: ReviewSummary['status'], steps: ReviewSummary['steps']): ReviewSummary => ({
  attempt_number: 2,
  status,
  steps,
})
const ci = (...ci_steps: string[]) => ({ ci_steps, review_prompt: null })
const annotation = (type: 'hook_failed' | 'execution_failed') => ({
  type,
  message: 'npm ci exited 1',
  recovery_actions: [],
})

test('shows an agent’s question before anything else', () => {
  const working = { status: 'in_progress', active_execution_id: execution }
  expect(condition(working, 'Asks to run npm test')).toEqual({
    kind: 'asks',
    glyph: 'gate',
    tone: 'you',
    text: 'Asks to run npm test',
    needsYou: true,
  })
  expect(condition(working)).toBeNull()
})

test('shows nothing for a task that waits for nothing', () => {
  expect(condition({ status: 'ready' })).toBeNull()
  expect(condition({ status: 'over', review_summary: review('passed', []) })).toBeNull()
})

test('shows an error with its cause in one line, as needing a person', () => {
  expect(condition({ status: 'making', error_annotation: annotation('execution_failed') })).toEqual({
    kind: 'trouble',
    glyph: 'failed',
    tone: 'fail',
    text: 'Agent failed: npm ci exited 1',
    full: 'npm ci exited 1',
    needsYou: true,
  })
})

test('shows the cause of a failure, not how the run ended', () => {
  const text = (rest: Partial<ErrorAnnotation>) =>
    failureText({ type: 'execution_failed', message: '', recovery_actions: [], ...rest })
  expect(text({ message: 'The agent failed (exit 1). nothing to commit' })).toBe('Agent failed: nothing to commit')
  expect(text({ message: 'The agent failed with exit code 7.' })).toBe('Agent failed: exit code 7')
  expect(text({ message: '529 overloaded\nrequest 12' })).toBe('Agent failed: 529 overloaded')
  expect(text({ type: 'usage_limit', message: 'Used up', retry_at: '2026-11-24T14:30:00.000Z' })).toMatch(
    /^Usage limit: continues at (?:.+ )?\d\d:\d\d$/,
  )
  expect(text({ type: 'execution_incomplete', message: 'Which port?', reason: 'question' })).toBe('Which port?')
  expect(text({ type: 'execution_incomplete', message: 'It ended …', reason: 'nothing_done' })).toBe(
    'Agent changed nothing',
  )
  expect(text({ type: 'execution_paused', message: 'It was stopped. Resume it, or run it again.' })).toBe('Stopped')
  const merge = { type: 'merge_conflict', message: 'Two files conflict.' } as const
  expect(text({ ...merge, files: ['a', 'b'], hunks: [] })).toBe('Merge failed')
  const dirty = 'a.txt has changes of yours. Commit them first.'
  expect(text({ type: 'merge_conflict', message: dirty, files: ['a.txt'] })).toBe(dirty)
  const hook = { type: 'hook_failed', message: 'The hook before work failed (exit code 3): set up. Retry it.' } as const
  expect(text({ ...hook, hook: 'before_work[0]' })).toBe('Hook failed: set up, exit code 3')
  expect(text({ ...hook, hook: 'before_work[0]', stderr_summary: 'warn\nno such file\n' })).toBe(
    'Hook failed: no such file',
  )
  expect(text({ type: 'hook_failed', message: 'Review said no, and its workflow names no state to send it to.' })).toBe(
    'Review said no, and its workflow names no state to send it to.',
  )
})

test('shows the barrier before a failed hook behind it', () => {
  const held = { status: 'making', entry_barrier: true, error_annotation: annotation('hook_failed') }
  expect(condition(held)?.glyph).toBe('barrier')
})

test('shows a plan as waiting for approval, and a review only after its CI', () => {
  expect(condition({ status: 'planned' })?.text).toBe('Waiting for your approval')
  expect(condition({ status: 'judged', review_summary: review('running', ['running']) })).toBeNull()
  expect(condition({ status: 'judged', review_summary: review('passed', ['passed']) })?.text).toBe('Checks passed')
  expect(condition({ status: 'judged', review_summary: review('passed', []) })?.text).toBe('Nothing checked')
  expect(condition({ status: 'planned', active_execution_id: execution })).toBeNull()
})

test('shows a review as waiting for its person once its CI is green', () => {
  const state = stateOf(workflow, 'judged')
  const gate = state && { ...state, gate_config: { requires_human_approval: true } }
  const of = (steps: ReviewSummary['steps'], rest: Partial<Task> = {}) =>
    taskLine({
      base: 'main',
      task: taskOf(1, { status: 'judged', review_summary: review('running', steps), ...rest }),
      state: gate,
      asks: null,
    })
  expect(of(['passed', 'running'])).toBeNull()
  expect(of(['passed', 'passed'])).toEqual({
    kind: 'waits',
    glyph: 'gate',
    tone: 'ok',
    text: 'Checks passed',
    needsYou: true,
  })
  expect(of([])?.needsYou).toBe(true)
  expect(of(['passed'], { active_execution_id: execution })).toBeNull()
  // Without a person's gate it waits for its reviewer, and where an agent has approved or there is none, for a person.
  const role = state?.role ?? 'reviewer'
  const open = (roles: Task['roles'], approved_by?: string[]) =>
    taskLine({
      base: 'main',
      task: taskOf(1, {
        status: 'judged',
        roles,
        review_summary: { ...review('running', ['passed']), ...(approved_by && { approved_by }) },
      }),
      state: state && { ...state, role },
      asks: null,
    })
  const agent = { [role]: { type: 'agent', id: 'a' as AgentId } } as const
  expect(open(agent)).toBeNull()
  expect(open(agent, ['agent:a'])?.needsYou).toBe(true)
  expect(open({})?.needsYou).toBe(true)
})

test('names the failed step of a review, or the attempt if the steps are not the task’s own', () => {
  const failed = { status: 'judged', review_summary: review('failed', ['passed', 'failed']) }
  expect(condition({ ...failed, review_config: ci('npm run lint', 'npm test') })?.text).toBe('Check failed: npm test')
  expect(condition(failed)?.text).toBe('Attempt 2 failed')
})

describe('says the one thing that blocks', () => {
  const conflict = { base_conflict: { commit: 'c', files: ['src/cart/refund.ts', 'b.ts'] } }
  const failed = { review_summary: review('failed', ['failed']), review_config: ci('npm test') }
  const empty = { review_summary: { ...review('passed', ['passed']), empty: true } }
  const left: ErrorAnnotation = { type: 'work_elsewhere', message: 'Work on side. Take it.', recovery_actions: [] }
  const judged = { status: 'judged', review_summary: review('passed', ['passed']) }
  const line = (...all: readonly Partial<Task>[]) => condition(Object.assign({}, judged, ...all) as Partial<Task>)
  test.each([
    ['conflict', line(conflict, failed, { error_annotation: left })],
    ['check', line(failed, { error_annotation: left })],
    ['empty', line(empty)],
    ['elsewhere', line({ error_annotation: left })],
    ['waits', line()],
  ])('%s', (kind, found) => expect(found?.kind).toBe(kind))

  test('a question comes before a conflict', () => {
    expect(condition({ ...judged, ...conflict }, 'Which port?')?.kind).toBe('asks')
  })
  test('an empty branch is no news where its work lies elsewhere', () => {
    expect(line(empty, { error_annotation: left })?.kind).toBe('elsewhere')
  })
  test('a conflict with its file, in red', () => {
    expect(line(conflict)).toEqual({
      kind: 'conflict',
      glyph: 'merge-failed',
      tone: 'fail',
      text: 'Conflicts with main in refund.ts and 1 more',
      full: 'Conflicts with main in src/cart/refund.ts, b.ts',
      needsYou: true,
    })
  })
  test('no conflict where no merge comes next', () => {
    expect(condition({ status: 'planned', ...conflict })?.text).toBe('Waiting for your approval')
    expect(condition({ status: 'making', ...conflict })).toBeNull()
    expect(condition({ status: 'over', ...conflict })).toBeNull()
    const stopped = { ...annotation('execution_failed') }
    expect(condition({ status: 'making', ...conflict, error_annotation: stopped })?.kind).toBe('trouble')
  })
  test('work that changes nothing is never green', () => {
    expect(line(empty)).toMatchObject({ text: 'No changes', tone: 'neutral', needsYou: true })
  })
  test('only what blocks is red', () => {
    const tones = [line(conflict), line(failed), line(empty), line({ error_annotation: left }), line()]
    expect(tones.map((one) => one?.tone)).toEqual(['fail', 'fail', 'neutral', 'you', 'ok'])
  })
})

describe('a task with a pull request', () => {
  const pull_request = { number: 431, url: pullOf().url, state: 'open' as const }
  const line = (rest: Partial<Task>, known: PullRequest | null, awaited = true) => {
    const task = taskOf(1, { status: 'planned', pull_request, ...rest })
    const pullRequest = { awaited, known, forge: 'GitHub' }
    return taskLine({ base: 'main', task, state: stateOf(workflow, task.status), asks: null, pullRequest })
  }
  const conflict = pullOf({ waiting_for: ['conflict'], mergeable: false })

  test('says at its gate how that stands, in red only where it can’t go on', () => {
    expect(line({}, conflict)).toEqual({
      kind: 'pull_request',
      glyph: 'failed',
      tone: 'fail',
      text: '#431 conflicts with main',
      needsYou: true,
    })
    const checks = [checkOf('e2e', 'running'), checkOf('lint', 'queued')]
    expect(line({}, pullOf({ waiting_for: ['checks'], checks }))).toEqual({
      kind: 'pull_request',
      glyph: 'gate-waiting',
      tone: 'neutral',
      text: '#431 waits for 2 checks',
      needsYou: false,
    })
    expect(line({}, pullOf())).toMatchObject({ text: '#431 can be merged', tone: 'ok', needsYou: true })
    expect(line({ pull_request: null }, null)).toMatchObject({ text: 'No pull request yet', needsYou: true })
  })
  test('says an error of the task first', () => {
    expect(line({ error_annotation: annotation('hook_failed') }, conflict)?.kind).toBe('trouble')
  })
  test('asks nothing of anyone elsewhere, and says nothing while an agent works', () => {
    const making = { status: 'making' }
    expect(line(making, pullOf(), false)).toMatchObject({ text: '#431 can be merged', needsYou: false })
    expect(line({ ...making, pull_request: { ...pull_request, state: 'closed' } }, null, false)).toMatchObject({
      text: '#431 closed',
      tone: 'neutral',
      needsYou: false,
    })
    expect(line({ ...making, active_execution_id: execution }, conflict, false)).toBeNull()
    expect(line({ status: 'judged', review_summary: review('passed', ['passed']) }, conflict, false)?.kind).toBe(
      'waits',
    )
    expect(line({ status: 'over' }, conflict, false)).toBeNull()
  })
})

test('says why an action is not available', () => {
  const idle = taskOf(1, { status: 'ready' })
  const busy = taskOf(2, { status: 'making', active_execution_id: execution })
  const over = taskOf(3, { status: 'over' })
  const of = (task: Task, offline = false) => actionsOf(task, stateOf(workflow, task.status), 'Claude Code', offline)
  expect(of(idle)).toEqual({
    start: null,
    stop: 'No agent is running',
    review: 'Nothing to review yet',
    cancel: null,
    archive: 'Finish or cancel the task first',
  })
  expect(of(busy).start).toBe('Claude Code is already working on this')
  expect(of(busy).stop).toBeNull()
  expect([of(over).cancel, of(over).archive]).toEqual(['This task is finished', null])
  expect(of(busy, true).stop).toBe('Changes are off until Copse reconnects')
})
