import { expect, test } from 'vitest'
import { createControl, readControl } from '../../../../src-main/agents/claude-code/control.ts'
import type { Permissions, Verdict } from '../../../../src-main/agents/agent/permissions.ts'

const request = (request_id: string, tool_name: string, input: object) => {
  const message = readControl({
    type: 'control_request',
    request_id,
    request: { subtype: 'can_use_tool', tool_name, input },
  })
  if (message === null) throw new Error('It can not be read.')
  return message
}

interface Played {
  readonly control: ReturnType<typeof createControl>
  /** Resolves with the next response. */
  next(): Promise<unknown>
}

function play(permissions: Partial<Permissions>): Played {
  const sent: unknown[] = []
  let wake: (() => void) | undefined
  const control = createControl({
    permissions: {
      decide: () => Promise.resolve(yes),
      mayActAlone: () => Promise.resolve(false),
      ask: () => Promise.resolve(null),
      ...permissions,
    },
    cwd: '/tree',
    send: (message) => {
      sent.push(message)
      wake?.()
      return Promise.resolve()
    },
  })
  return {
    control,
    next: async () => {
      while (sent.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return sent.shift()
    },
  }
}

const yes: Verdict = { allowed: true, reason: null }
const response = (request_id: string, answer: object) => ({
  type: 'control_response',
  response: { subtype: 'success', request_id, response: answer },
})

test('makes an allowed call with the input that was shown', async () => {
  const { control, next } = play({})
  control.onMessage(request('r1', 'Bash', { command: 'ls' }))
  expect(await next()).toEqual(response('r1', { behavior: 'allow', updatedInput: { command: 'ls' } }))
})

test('leaves a withdrawn request unanswered and answers the next one', async () => {
  const withdrawn: string[] = []
  const { control, next } = play({
    decide: (call, signal) => {
      if (call.tool !== 'Slow') return Promise.resolve(yes)
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          withdrawn.push(call.tool)
          resolve({ allowed: false, reason: null })
        })
      })
    },
  })
  control.onMessage(request('r1', 'Slow', {}))
  control.onMessage({ type: 'control_cancel_request', request_id: 'r1' })
  control.onMessage(request('r2', 'Quick', {}))
  expect(await next()).toEqual(response('r2', { behavior: 'allow', updatedInput: {} }))
  control.onMessage(request('r3', 'Slow', {}))
  control.close()
  expect(withdrawn).toEqual(['Slow', 'Slow'])
})

test('denies questions that are unreadable or unanswered, and says what to do', async () => {
  const { control, next } = play({})
  control.onMessage(request('r1', 'AskUserQuestion', { questions: 'What?' }))
  expect(await next()).toMatchObject({
    response: { response: { behavior: 'deny', message: expect.stringContaining('plain words') as string } },
  })
  control.onMessage(request('r2', 'AskUserQuestion', { questions: [{ question: 'What?', options: [] }] }))
  expect(await next()).toMatchObject({
    response: { response: { behavior: 'deny', message: expect.stringContaining('Decide yourself') as string } },
  })
})

test('answers with an error if the decision fails', async () => {
  const { control, next } = play({ decide: () => Promise.reject(new Error('The disk is full.')) })
  control.onMessage(request('r1', 'Bash', { command: 'ls' }))
  const error = { subtype: 'error', request_id: 'r1', error: 'The disk is full.' }
  expect(await next()).toEqual({ type: 'control_response', response: error })
})

test.each([
  ['no control message', { type: 'assistant', message: {} }],
  ['another kind of request', { type: 'control_request', request_id: 'r', request: { subtype: 'hook_callback' } }],
  ['nothing at all', null],
])('does not answer %s', (_name, json) => {
  expect(readControl(json)).toBeNull()
})
