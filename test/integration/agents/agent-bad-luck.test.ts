import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { ProjectId } from '../../../src-shared/contract/ids.ts'
import type { ExecutionOutcome } from '../../../src-main/ports/executors.ts'
import { createClaudeCodeDriver } from '../../../src-main/agents/claude-code/definition.ts'
import { createLogs } from '../../../src-main/logs/create-logs.ts'
import { isRunning, makePlace, never, runOf, writeProgram } from '../../unit/agents/claude-code/stand-in.ts'
import type { Place } from '../../unit/agents/claude-code/stand-in.ts'

// Unlucky programs, through the driver that all agents share, into the logs that people read.

const linux = process.platform === 'linux'
let place: Place
beforeEach(async () => {
  place = await makePlace()
})
afterEach(async () => {
  await place[Symbol.asyncDispose]()
})

interface Ran {
  readonly outcome: ExecutionOutcome
  /** The transcript, without the prompt. */
  readonly entries: readonly TranscriptEntry[]
  readonly raw: string
}

async function run(body: string): Promise<Ran> {
  const dir = join(place.home, 'logs')
  const about = runOf(place, { config: { command: await writeProgram(place, body) } })
  const { task_id, execution_id } = about
  const project_id = ProjectId.parse('0198f000-0000-7000-8000-000000000003')
  const log = await createLogs({ dir }).openAgent({ project_id, task_id, execution_id, redact: (text) => text })
  const { outcome } = await createClaudeCodeDriver().start({ ...about, log }, { signal: never })
  const ended = await outcome
  const read = (name: string): Promise<string> => readFile(join(dir, task_id, `agent-${execution_id}.${name}`), 'utf8')
  const lines = (await read('jsonl')).trimEnd().split('\n')
  const [prompt, ...entries] = lines.map((line) => JSON.parse(line) as TranscriptEntry)
  expect(prompt?.type).toBe('prompt')
  return { outcome: ended, entries, raw: await read('raw.log') }
}

const told = ({ entries }: Ran): readonly string[][] =>
  entries.map((entry) => [entry.type, ...('text' in entry ? [entry.text] : [])])

describe('an agent that dies', () => {
  test.each(['SIGKILL', 'SIGSEGV', 'SIGTERM'] as const)(
    'by %s is reported by the signal alone, not by its last output',
    async (signal) => {
      const ran = await run(`words('I begin.'); setTimeout(() => process.kill(process.pid, '${signal}'), 50)`)
      expect(ran.outcome).toMatchObject({ ended: 'exited', session_id: 's1', conclusion: 'talked' })
      expect(ran.outcome.exit_code).toBeGreaterThan(128)
      expect(ran.outcome.message).toBe(`The agent was ended by ${signal}.`)
      expect(told(ran)).toEqual([['message', 'I begin.']])
    },
  )

  test('in the middle of a line keeps that half, which ends no turn', async () => {
    const ran = await run(`words('I begin.'); process.stdout.write('{"type":"result","is_err', () => process.exit(0))`)
    expect(told(ran)).toEqual([
      ['message', 'I begin.'],
      ['stdout', '{"type":"result","is_err'],
    ])
    expect(ran.raw.endsWith('{"type":"result","is_err')).toBe(true)
  })
})

describe('an agent with unexpected output', () => {
  test('keeps ten thousand lines of garbage in order and counts as active', async () => {
    const ran = await run(`
      const lines = Array.from({ length: 10_000 }, (_, n) => '\\u001b[31mnoise ' + n + ' {"\\n')
      process.stdout.write(lines.join(''), () => { words('Here I am.'); result('x') })`)
    expect(ran.outcome).toMatchObject({ ended: 'exited', exit_code: 0, conclusion: 'talked', message: 'Here I am.' })
    const noise = ran.entries.filter(({ type }) => type === 'stdout')
    expect(noise.map((entry) => ('text' in entry ? /\d+(?= )/.exec(entry.text)?.[0] : ''))).toEqual(
      Array.from({ length: 10_000 }, (_, n) => String(n)),
    )
    expect(ran.raw).toContain('noise 9999 {"\n')
  })

  test('reads a line of 32 MB whole, and cuts it in the transcript as text', async () => {
    const ran = await run(`
      const text = 'x'.repeat(32 * 1024 * 1024 - 300) + 'the end'
      say({ type: 'user', session_id: 's1', message: { content: [{ type: 'tool_result', tool_use_id: 't', content: text }] } })
      words('Read it.')
      result('x')`)
    expect(ran.outcome).toMatchObject({ exit_code: 0, message: 'Read it.' })
    expect(ran.entries.map(({ type }) => type)).toEqual(['tool_result', 'message', 'usage'])
    const [long] = ran.entries
    expect(long && 'text' in long ? long.text.slice(-60) : '').toMatch(/more characters are in the raw log$/)
    expect(ran.raw.length).toBeGreaterThan(32 * 1024 * 1024 - 300)
    expect(ran.raw).toContain('the end"')
  })

  test('shows an outdated program’s own message for an unknown option', async () => {
    const ran = await run(`process.stderr.write("error: unknown option '--input-format'\\n", () => process.exit(1))`)
    expect(ran.outcome).toMatchObject({ exit_code: 1, conclusion: 'silent' })
    expect(ran.outcome.message).toBe("error: unknown option '--input-format'")
  })
})

describe('an agent that leaves a process running', () => {
  const left = {
    'a job in its group': `spawn('sleep', ['600'], { stdio: 'ignore' }).pid`,
    'a job in a session of its own': `spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).pid`,
    // Agents start processes like this: in a session of their own, whose parents are gone when the agent ends.
    'a daemon': `Number(execFileSync('/bin/sh', ['-c', 'setsid sh -c "sleep 600 > /dev/null & echo \\\\$!" < /dev/null 2>/dev/null']).toString())`,
  }

  test.runIf(linux).each(Object.entries(left))('is ended with %s', async (_what, start) => {
    const ran = await run(`
      const { spawn, execFileSync } = require('node:child_process')
      words(String(${start}))
      result('x')
      heard.on('close', () => process.exit(0))`)
    expect(ran.outcome).toMatchObject({ ended: 'exited', exit_code: 0 })
    const pid = ran.outcome.message ?? ''
    expect(Number(pid)).toBeGreaterThan(1)
    expect(await isRunning(pid)).toBe(false)
  })
})

test.runIf(linux)('gives an agent no terminal where it could wait for a sign-in', async () => {
  const ran = await run(`
    const { execFileSync } = require('node:child_process')
    words(execFileSync('/bin/sh', ['-c', '(: < /dev/tty) 2>&1 || true; ps -o sid=,tty= -p ' + process.pid]).toString())
    result('x')`)
  // A session that it leads has no terminal, however the service was started.
  expect(ran.outcome.message).toMatch(/\/dev\/tty.*\n *\d+ +\?\s*$/s)
})
