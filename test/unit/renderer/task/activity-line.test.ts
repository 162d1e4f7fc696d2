import { describe, expect, test } from 'vitest'
import type { ActivityItem } from '../../../../src-renderer/features/task/activity-item.ts'
import { activityItems } from '../../../../src-renderer/features/task/activity-items.ts'
import { activityLine, type Names, type TextSegment } from '../../../../src-renderer/features/task/activity-line.ts'
import { nextStepText, type NextFacts } from '../../../../src-renderer/features/task/next-step-text.ts'
import { excerpt, firstMeaningfulLine } from '../../../../src-renderer/features/task/first-meaningful-line.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'
import { failing } from '../../../helpers/task-panel-reviews.ts'

const data = panelData(Date.parse('2026-11-21T12:00:00.000Z'))
const names: Names = {
  actor: (by) => ({ name: by.startsWith('agent:') ? 'Auditor' : 'Copse', kind: 'agent' }),
  worker: () => ({ name: 'Claude Code', kind: 'agent' }),
  author: ({ author }) => ({ name: author.name, kind: 'person' }),
  state: (name) => ({ label: name.toUpperCase(), glyph: 'custom' }),
  rejections: () => ({ used: 2, max: 3 }),
}
const text = (pieces: readonly TextSegment[]) => pieces.map((piece) => piece.text).join('')
const items = activityItems({ ...data, hooks: [], comments: [], workflow })
const lines = items.map((item) => activityLine(item, names))
const lineOf = (isMeant: (item: ActivityItem) => boolean) => {
  const line = lines[items.findIndex(isMeant)]
  if (!line) throw new Error("This line doesn't exist.")
  return { words: text(line.title), says: text(line.body), opens: line.link?.tab ?? null, tone: line.tone }
}

describe('a line of the timeline', () => {
  test('shows for a rejection by CI the failed step and one line of the reason', () => {
    const line = lineOf((item) => item.kind === 'transition' && item.attempt?.attempt_number === 2)
    expect(line).toEqual({
      words: 'REVIEW → IN_PROGRESS rejected by CI, 2 of 3',
      says: 'npm test exited 1: two workers, one event: exactly one request leaves',
      opens: 'review',
      tone: null,
    })
  })
  test('quotes the reviewer of a rejection', () => {
    expect(lineOf((item) => item.kind === 'transition' && item.attempt?.attempt_number === 1)).toMatchObject({
      words: 'REVIEW → IN_PROGRESS rejected by Auditor, 2 of 3',
      says: '“Releases the lease too early.”',
    })
  })
  test('shows how a run ended, how long it took and what it used', () => {
    const run = (n: number) => lineOf((item) => item.kind === 'execution' && item.n === n)
    expect([run(1), run(2), run(3)]).toEqual([
      { words: 'Claude Code finished run 1 in 1 h 20 m', says: '1.2M tokens, $12.50', opens: 'agent', tone: null },
      {
        words: 'Claude Code failed in run 2 after 16 m 00 s',
        says: 'The agent exited with code 1 before it had done anything: no model answered.',
        opens: 'agent',
        tone: null,
      },
      { words: 'Claude Code works on run 3', says: '', opens: 'agent', tone: null },
    ])
  })
  test('describes CI, verdict, worktree and start', () => {
    const words = ['ci', 'verdict', 'worktree', 'created'].map((kind) => lineOf((item) => item.kind === kind).words)
    expect(words).toEqual([
      '3 checks passed in 24 s',
      'Auditor passed attempt 3',
      'Worktree created from main at 9c1e77b4',
      'Task created, issue #361',
    ])
  })
  test('highlights a skipped hook', () => {
    expect(lineOf((item) => item.kind === 'hook')).toMatchObject({
      words: 'on_exit notify_slack was skipped',
      tone: 'warning',
    })
  })
})

test('shows the first line of an output that reports trouble, else the last', () => {
  expect(firstMeaningfulLine(failing)).toBe('two workers, one event: exactly one request leaves')
  expect(firstMeaningfulLine('1 failed in 2 s\n× adds up\nTypeError: no\n')).toBe('TypeError: no')
  expect(firstMeaningfulLine('> ferry@2.4.0 test\n1 failed in 2 s\ndone')).toBe('1 failed in 2 s')
  expect(firstMeaningfulLine('one\ntwo\n\n')).toBe('two')
  expect(firstMeaningfulLine('\n')).toBeNull()
  expect(firstMeaningfulLine('x'.repeat(5_000))).toHaveLength(280)
  expect(excerpt('One\nline.\n\nAnother.')).toBe('One line.')
})

describe('the next step', () => {
  const facts: NextFacts = {
    task: data.task,
    workflow,
    execution: data.executions[0] ?? null,
    review: null,
    waits: 0,
    target: 'main',
    agent: 'Claude Code',
  }
  const at = (status: string, more: Partial<NextFacts> = {}) =>
    nextStepText({ ...facts, execution: null, task: { ...data.task, status }, ...more })?.words ?? null
  const attempt = data.reviews[0] ?? null

  test('is shown for every kind of state', () => {
    expect(nextStepText(facts)).toEqual({
      tone: 'run',
      words: 'Claude Code is working on it. After that it moves to Review.',
    })
    expect(['backlog', 'todo', 'in_progress', 'review', 'merging', 'done'].map((status) => at(status))).toEqual([
      'It stays here until someone moves it. After that it moves to To do.',
      'Start an agent, or do it yourself. After that it moves to In progress.',
      'Start an agent, or move it. After that it moves to Review.',
      'The task is waiting for your approval. After that Copse merges it into main.',
      'Copse merges it into main.',
      null,
    ])
  })
  test('at a gate is CI, then the reviewer, then a person', () => {
    const waiting = attempt && { ...attempt, step_results: [] }
    expect(at('review', { review: waiting })).toBe(
      'Running checks for attempt 3. If they pass, Claude Code reviews it.',
    )
    expect(at('review', { review: attempt, execution: facts.execution })).toBe(
      'Claude Code is reviewing it. After that Copse merges it into main.',
    )
    expect(at('review', { review: attempt, agent: null })).toBe(
      'Attempt 3 is waiting for your approval. After that Copse merges it into main.',
    )
    expect(at('review', { review: attempt && { ...attempt, status: 'passed' } })).toBe(
      'Attempt 3 passed and is ready for you. After that Copse merges it into main.',
    )
  })
  test('is what a person must do if the task is stuck', () => {
    const stuck = { type: 'hook_failed', message: 'No.', recovery_actions: [] } as const
    expect(at('in_progress', { task: { ...data.task, error_annotation: { ...stuck, recovery_actions: [] } } })).toMatch(
      /^It needs you/,
    )
    expect(at('todo', { waits: 2 })).toBe('It depends on 2 unfinished tasks.')
  })
})
