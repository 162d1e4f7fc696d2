import { describe, expect, test } from 'vitest'
import { acpProfile } from '../../../src-main/agents/acp/acp-profile.ts'
import { anyAcpAgent } from '../../../src-main/agents/acp/definition.ts'
import type { AgentProfile, RunResult } from '../../../src-main/agents/agent/agent-profile.ts'
import { isRefusal } from '../../../src-main/agents/agent/classify-output.ts'
import { codex } from '../../../src-main/agents/codex/definition.ts'
import { createJsonEnding } from '../../../src-main/agents/command/json-ending.ts'
import { copilot } from '../../../src-main/agents/copilot/definition.ts'
import { gemini } from '../../../src-main/agents/gemini/definition.ts'
import { opencode } from '../../../src-main/agents/opencode/definition.ts'
import { qwen } from '../../../src-main/agents/qwen/definition.ts'
import { interpretOutcome } from '../../../src-main/executions/rules/interpret-outcome.ts'
import { play, recordingOf } from './play-recording.ts'

/** Streams of real agents whose model server answered 401 or 429, without what they say of themselves. */
const profiles: Readonly<Record<string, AgentProfile>> = {
  codex,
  opencode: acpProfile(opencode),
  gemini: acpProfile(gemini),
  qwen: acpProfile(qwen),
  copilot: acpProfile(copilot),
  'claude-agent-acp': acpProfile(anyAcpAgent),
  'codex-acp': acpProfile(anyAcpAgent),
  'codex-acp-zed': acpProfile(anyAcpAgent),
  kilo: acpProfile(anyAcpAgent),
}

/** What the task shows of a run with this result, which changed nothing. */
function shownOf(result: RunResult) {
  const usage_limit = result.usage_limit && { account: 'a', resets_at: null, retry_at: '2026-11-21T13:00:00.000Z' }
  const { annotation, status } = interpretOutcome({
    outcome: { ...result, ended: 'exited', exit_code: result.failed ? 1 : 0 },
    stopped: null,
    changed: false,
    owes_work: true,
    has_session: true,
    usage_limit: usage_limit ?? null,
  })
  return [status, annotation?.type, annotation?.failure]
}

const playRefused = (name: string, status: number) =>
  play(recordingOf(`refused/${name}-${status}`), (run, listener) => {
    const profile = profiles[name]
    if (!profile) throw new Error(`No profile of ${name}.`)
    return profile.createSession(run, listener)
  })

describe('an agent whose model server refuses it', () => {
  test.each([
    'codex',
    'opencode',
    'gemini',
    'qwen',
    'copilot',
    'claude-agent-acp',
    'codex-acp',
    'codex-acp-zed',
    'kilo',
  ])('ends as not signed in after 401: %s', async (name) => {
    const { result } = await playRefused(name, 401)
    expect(shownOf(result)).toEqual(['failed', 'execution_failed', 'not_signed_in'])
  })

  test.each(['codex', 'opencode', 'gemini', 'copilot', 'claude-agent-acp', 'codex-acp', 'codex-acp-zed', 'kilo'])(
    'ends at the usage limit after 429: %s',
    async (name) => {
      const { result } = await playRefused(name, 429)
      expect(shownOf(result)).toEqual(['failed', 'usage_limit', 'usage_limit'])
    },
  )

  test('tells each refusal that it repeats, and does not take it for the model’s words', async () => {
    const { entries, result } = await playRefused('copilot', 401)
    expect(entries.map((entry) => [entry.type, 'text' in entry ? entry.text.split('\n')[0] : ''])).toEqual([
      ['error', 'Info: Request failed due to a transient API error. Retrying...'],
      ['error', 'Info: Request failed due to a transient API error. Retrying...'],
      ['message', 'Error: Authentication failed with provider at http://127.0.0.1:4000/v1 (HTTP 401).'],
    ])
    expect(result.message).toMatch(/^Error: Authentication failed/)
  })

  test('is given up at once if only a sign-in helps, over ACP too', async () => {
    let given = 0
    const { entries } = await play(recordingOf('refused/claude-agent-acp-401'), (run, listener) =>
      acpProfile(anyAcpAgent).createSession(run, { ...listener, giveUp: () => (given += 1) }),
    )
    expect(given).toBe(1)
    expect(entries).toMatchObject([
      { type: 'error', text: 'The model server refused (401 authentication_failed); try 1 of 10 follows in 1 s.' },
    ])
  })
})

describe('the events of a command', () => {
  const endingOf = (lines: readonly string[]) => {
    const ending = createJsonEnding()
    for (const line of lines) ending.push(Buffer.from(`${line}\n`))
    return ending.failure()
  }

  test.each([
    ['pi', 401, '401 Incorrect API key provided.'],
    ['pi', 429, '429 This step of the script is an error 429.'],
    ['cline', 401, 'Incorrect API key provided.'],
    ['cline', 429, 'This step of the script is an error 429.'],
  ])('say why it failed, whatever its exit code: %s after %s', (name, status, text) => {
    expect(endingOf(recordingOf(`refused/${name}-${status}`))).toBe(text)
  })

  test.each([
    [
      [
        '{"type":"session"}',
        '{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"429 Slow down"}}',
        '{"type":"message_end","message":{"role":"assistant","stopReason":"stop"}}',
      ],
    ],
    [
      [
        '{"type":"thread.started","thread_id":"t"}',
        '{"type":"error","message":"Reconnecting"}',
        '{"type":"turn.completed"}',
      ],
    ],
    [['{"type":"error","message":"a line of a test runner"}']],
    [['{"level":30,"msg":"{\\"type\\":\\"error\\"}"}', 'plain text']],
  ])('say nothing of a turn that went well, or of no agent: %j', (lines) => {
    expect(endingOf(lines)).toBeNull()
  })

  test.each([
    [
      '{"type":"result","is_error":true,"session_id":"s","result":"API Error: Request rejected (429)"}',
      'API Error: Request rejected (429)',
    ],
    [
      '{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Unauthorized","statusCode":401}}}',
      '401 Unauthorized',
    ],
    ['{"type":"turn.failed","session_id":"s","error":{"message":"exceeded retry limit"}}', 'exceeded retry limit'],
  ])('name the status: %s', (line, text) => {
    expect(endingOf([line])).toBe(text)
  })
})

test.each([
  ['exceeded retry limit, last status: 429 Too Many Requests', true],
  ['API Error: 401 {"type":"error"}', true],
  ["You've hit your usage limit. Try again at 3:45 PM.", true],
  ['I added a retry for 429 Too Many Requests in the client, and a test for it.', false],
  ['Error: the server answered 429 Too Many Requests', true],
  ['Done: the client now waits after a refused request.', false],
  [`The work is done. ${'It took a while. '.repeat(10)}429 Too Many Requests is handled.`, false],
])('knows a program’s report of a refusal: %j', (text, refusal) => {
  expect(isRefusal(text)).toBe(refusal)
})
