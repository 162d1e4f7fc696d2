import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { acpProfile } from '../../../../src-main/agents/acp/acp-profile.ts'
import { anyAcpAgent } from '../../../../src-main/agents/acp/definition.ts'
import { startAgent } from '../../../../src-main/agents/agent/agent-driver.ts'
import { runOf } from '../play-recording.ts'

const hello = `{ protocolVersion: 1, agentCapabilities: {} }`

test.each([
  ['initialize', `process.stdin.resume()`],
  [
    'session/new',
    `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result: ${hello} }))
    })`,
  ],
])('ends an agent that never answers %s, and shows what it wrote', async (_what, script) => {
  const running = await startAgent(acpProfile({ ...anyAcpAgent, startMs: 2_500 }), runOf({ cwd: tmpdir() }), {
    env: process.env,
    signal: new AbortController().signal,
    exitGraceMs: 50,
    launch: () => ({ file: process.execPath, args: ['-e', `console.error('Open this page to sign in'); ${script}`] }),
  })
  const outcome = await running.outcome
  expect(outcome.exit_code).not.toBe(0)
  expect(outcome.message).toBe(
    "The agent didn't answer within 2.5 s of its start. Run it once in a terminal to see what it asks. It wrote: Open this page to sign in",
  )
})
