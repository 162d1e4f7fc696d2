import { expect, test } from 'vitest'
import type { CreateElicitationRequest } from '@agentclientprotocol/sdk'
import { askForm } from '../../../../src-main/agents/acp/ask-form.ts'
import type { AgentRequest, AgentRequestAnswer } from '../../../../src-main/ports/executors.ts'

const form = (properties: object, message = 'How shall I go on?') =>
  ({
    mode: 'form',
    sessionId: 's1',
    message,
    requestedSchema: { type: 'object', properties },
  }) as CreateElicitationRequest

/** Answers each question by the number of an option, or by words. */
async function fill(request: CreateElicitationRequest, ...answers: readonly (number | string | null)[]) {
  const asked: AgentRequest[] = []
  const result = await askForm(
    request,
    (question): Promise<AgentRequestAnswer | null> => {
      const answer = answers[asked.length] ?? null
      asked.push(question)
      if (answer === null) return Promise.resolve(null)
      if (typeof answer === 'string') return Promise.resolve({ option: null, text: answer })
      return Promise.resolve({ option: question.options[answer - 1] ?? null, text: null })
    },
    new AbortController().signal,
  )
  return { asked, result }
}

test('asks a choice by its titles and answers with its value', async () => {
  const currency = {
    type: 'string',
    oneOf: [
      { const: 'EUR', title: 'Euro', description: 'As the shop in Lisbon' },
      { const: 'USD', title: 'Dollar' },
    ],
  }
  const { asked, result } = await fill(form({ currency }, 'Which currency?'), 2)
  expect(asked).toMatchObject([
    {
      kind: 'question',
      text: 'Which currency?',
      takes_text: false,
      multiple: false,
      options: [
        { id: '1', label: 'Euro', description: 'As the shop in Lisbon', kind: 'choice' },
        { id: '2', label: 'Dollar', description: null },
      ],
    },
  ])
  expect(result).toEqual({ action: 'accept', content: { currency: 'USD' } })
})

test('asks field after field, each with its title, and gives each its own type', async () => {
  const properties = {
    name: { type: 'string', title: 'Name of the file', description: 'Below src' },
    deep: { type: 'boolean' },
    depth: { type: 'integer' },
    parts: { type: 'array', items: { enum: ['head', 'body', 'foot, small'] } },
  }
  const { asked, result } = await fill(form(properties, 'I need this:'), 'a.ts', 1, '3', 'head, foot, small')
  expect(asked.map(({ text }) => text)).toEqual([
    'I need this: Name of the file\nBelow src',
    'I need this: deep',
    'I need this: depth',
    'I need this: parts',
  ])
  expect(asked.map(({ takes_text, multiple }) => [takes_text, multiple])).toEqual([
    [true, false],
    [false, false],
    [true, false],
    [true, true],
  ])
  expect(result).toEqual({
    action: 'accept',
    content: { name: 'a.ts', deep: true, depth: 3, parts: ['head', 'foot, small'] },
  })
})

test('leaves out what is no number, and cancels when no one answers or nothing can be asked', async () => {
  expect((await fill(form({ depth: { type: 'number' } }), 'deep')).result).toEqual({ action: 'accept', content: {} })
  expect((await fill(form({ a: { type: 'string' }, b: { type: 'string' } }), 'x', null)).result).toEqual({
    action: 'cancel',
  })
  expect((await fill(form({}))).result).toEqual({ action: 'cancel' })
  const link = { mode: 'url', sessionId: 's1', message: 'Sign in', elicitationId: 'e', url: 'https://example.com' }
  expect((await fill(link as CreateElicitationRequest)).result).toEqual({ action: 'cancel' })
})

test('shows hidden characters of an agent’s words as such', async () => {
  const { asked } = await fill(form({ a: { enum: ['\u202eevil'], type: 'string' } }, 'Is it\u202e?'), 1)
  expect(JSON.stringify(asked)).not.toContain('\u202e')
})
