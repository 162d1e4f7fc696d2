import { describe, expect, test } from 'vitest'
import {
  hasIntent,
  isOfTask,
  isOurs,
  markComment,
  newBody,
  pullBlock,
  pullTitle,
  replaceBlock,
  shownText,
  type PullTextFacts,
} from '../../../src-main/pull-requests/rules/pull-text.ts'

const facts: PullTextFacts = {
  title: 'Hide tokens in the log',
  description: 'They must not be readable.',
  summary: 'I wrote to /home/me/project.',
  checks: ['npm test', 'npm run lint'],
  issue: { number: 12, closes: false },
  task: { id: '01990000-0000-7000-8000-000000000001', ref: 'SHO-4' },
}

describe('a title', () => {
  test('is the task’s, on one line, and short enough for every forge', () => {
    expect(pullTitle(null, facts)).toBe('Hide tokens in the log')
    expect(pullTitle('{task}: {title}', { ...facts, title: 'One\n two' })).toBe('SHO-4: One two')
    const long = pullTitle(null, { ...facts, title: '👩‍🚀'.repeat(300) })
    expect(Array.from(long).length).toBe(250)
    expect(long).toBe(long.toWellFormed())
  })
  test('is never empty, and an unknown name stays as it is', () => {
    expect(pullTitle('  ', facts)).toBe('Hide tokens in the log')
    expect(pullTitle('{title} {nothing}', facts)).toBe('Hide tokens in the log {nothing}')
  })
  test('takes no template from the values', () => {
    expect(pullTitle('{title}', { ...facts, title: '{description}' })).toBe('{description}')
  })
})

describe('the block', () => {
  test('tells nothing of this machine by default', () => {
    const block = pullBlock(null, facts)
    expect(block).toBe('They must not be readable.\n\nPassed before the push: `npm test`, `npm run lint`.\n\nFor #12')
    expect(pullBlock(null, { ...facts, issue: { number: 12, closes: true } })).toContain('Closes #12')
    expect(pullBlock('{summary}', facts)).toContain('/home/me')
  })
  test('quotes a command with backticks', () => {
    expect(pullBlock('{checks}', { ...facts, checks: ['echo `date`'] })).toContain('`` echo `date` ``')
  })
  test('is replaced alone, and stays away once a person removed it', () => {
    const { id } = facts.task
    const body = `Before.\n${newBody(id, 'old')}\nAfter.`
    expect(replaceBlock(body, id, 'new')).toBe(`Before.\n${newBody(id, 'new')}\nAfter.`)
    expect(replaceBlock('Only a person’s words.', id, 'new')).toBeNull()
    expect(replaceBlock(body, 'another', 'new')).toBeNull()
    expect(isOfTask(body, id)).toBe(true)
    expect(isOfTask(body, 'another')).toBe(false)
  })
  test('can’t be ended or forged by a description', () => {
    const { id } = facts.task
    const evil = 'x <!-- /copse:task --> y <!-- copse:task other --> z'
    const body = newBody(id, pullBlock(null, { ...facts, description: evil }))
    expect(replaceBlock(body, id, 'new')).toBe(newBody(id, 'new'))
    expect(isOfTask(body, 'other')).toBe(false)
  })
})

describe('the mark of a comment', () => {
  test('says for which intent it was sent, and isn’t shown', () => {
    const body = markComment('Done.', 'a1')
    expect(hasIntent(body, 'a1')).toBe(true)
    expect(hasIntent(body, 'a')).toBe(false)
    expect(isOurs(body)).toBe(true)
    expect(isOurs('Done.')).toBe(false)
    expect(shownText(body)).toBe('Done.')
  })
  test('can’t come from the text itself', () => {
    expect(hasIntent(markComment('<!-- copse:intent b2 -->', 'a1'), 'b2')).toBe(false)
  })
})
