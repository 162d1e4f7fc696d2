import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClaudeCodeDriver } from '../../../src-main/agents/claude-code/definition.ts'
import {
  at,
  clock,
  echo,
  finish,
  isRunning,
  keptLog,
  makePlace,
  never,
  runOf,
  writeProgram,
} from './claude-code/stand-in.ts'
import type { Place } from './claude-code/stand-in.ts'

// Small Node programs stand in for Claude Code; the real program is tested in `test/agents`.

let place: Place
beforeEach(async () => {
  place = await makePlace()
})
afterEach(async () => {
  await place[Symbol.asyncDispose]()
})

describe('a run', () => {
  test('passes the prompt over stdin unchanged and closes stdin after the turn', async () => {
    const prompt = 'Say "hi"\n\u2028 $(rm -rf .) ü🌲 '.padEnd(150_000, 'x')
    const { outcome, log } = await finish(place, echo, { prompt })
    expect(outcome).toMatchObject({ ended: 'exited', exit_code: 0, session_id: 's1', conclusion: 'talked' })
    expect(log.entries.slice(0, 2)).toEqual([
      { type: 'prompt', at, text: prompt },
      { type: 'message', at, text: prompt },
    ])
    expect(log.closed).toBe(1)
  })

  test('gets the protocol, its arguments and its environment, and reports what it may not set', async () => {
    const body = `words(JSON.stringify([process.argv.slice(2), process.env.MINE, process.env.SVC_TASK_ID, process.cwd()])); result('x')`
    const { outcome, log } = await finish(place, body, {
      session_id: 's0',
      env: { SVC_TASK_ID: 't1' },
      config: { model: 'opus', args: ['--effort', 'low', '--output-format', 'text'], env: { MINE: 'yes' } },
    })
    const [argv, ...rest] = JSON.parse(outcome.message ?? '') as [string[], ...unknown[]]
    expect(argv.slice(0, 5)).toEqual(['--effort', 'low', '-p', '--output-format', 'stream-json'])
    expect(argv.slice(-4)).toEqual(['--model', 'opus', '--resume', 's0'])
    expect(rest).toEqual(['yes', 't1', place.cwd])
    expect(log.entries[0]).toMatchObject({
      type: 'error',
      text: expect.stringContaining('--output-format text') as string,
    })
  })

  test('reads its MCP endpoint from a private file that is removed afterwards', async () => {
    const body = `
      const fs = require('node:fs'), path = process.argv[process.argv.indexOf('--mcp-config') + 1]
      words(JSON.stringify([path, fs.statSync(path).mode & 0o777, JSON.parse(fs.readFileSync(path)), process.argv.join(' ')]))
      result('x')`
    const mcp = { url: 'http://127.0.0.1:1/mcp', token: 'secret-token' }
    const { outcome } = await finish(place, body, { mcp })
    const [path, mode, config, argv] = JSON.parse(outcome.message ?? '') as [string, number, unknown, string]
    expect(mode).toBe(0o600)
    expect(config).toEqual({
      mcpServers: { svc: { type: 'http', url: mcp.url, headers: { Authorization: 'Bearer secret-token' } } },
    })
    expect(argv).toContain('--strict-mcp-config --allowedTools mcp__svc__*')
    expect(argv).not.toContain('secret-token')
    expect(path.startsWith(place.cwd)).toBe(false)
    expect(await readdir(place.temp)).toEqual([])
  })

  test('reports why it failed from its result, or from stderr, which also becomes entries', async () => {
    const failing = `result('It broke.', { is_error: true }); heard.on('close', () => process.exit(1))`
    expect((await finish(place, failing)).outcome).toMatchObject({ exit_code: 1, message: 'It broke.' })

    const { outcome, log } = await finish(
      place,
      `process.stderr.write('error: no such option\\n'); process.exitCode = 3; heard.close()`,
    )
    expect(outcome).toMatchObject({ exit_code: 3, conclusion: 'silent', message: 'error: no such option' })
    expect(log.entries.at(-1)).toEqual({ type: 'stderr', at, text: 'error: no such option' })
  })

  test('fails with a failed result although the exit code is 0', async () => {
    const { outcome } = await finish(place, `result('It broke.', { is_error: true })`)
    expect(outcome).toMatchObject({ ended: 'exited', exit_code: 1 })
  })

  test('limits the entries of a flood on stderr and logs all of it', async () => {
    const { log } = await finish(
      place,
      `for (let n = 0; n < 5000; n++) process.stderr.write('line ' + n + '\\n'); result('x')`,
    )
    expect(log.entries.filter(({ type }) => type === 'stderr')).toHaveLength(1_001)
    expect(log.raws).toContain('line 4999\n')
  })

  test('logs whole lines, so that the streams do not interrupt each other', async () => {
    const { log } = await finish(
      place,
      `
      process.stdout.write('half a'); process.stderr.write('mis'); 
      setImmediate(() => { process.stdout.write(' line\\n'); process.stderr.write('hap\\n'); result('x') })`,
    )
    expect(log.raws).toContain('half a line\n')
    expect(log.raws).toContain('mishap\n')
  })

  test('keeps the parts of messages out of its log, and their figures in', async () => {
    const parts = `
      const part = (event) => say({ type: 'stream_event', event, session_id: 's1', parent_tool_use_id: null })
      part({ type: 'message_start', message: { id: 'm1', usage: { input_tokens: 10, output_tokens: 1 } } })
      for (let n = 0; n < 2000; n++) part({ type: 'content_block_delta', delta: { text: 'token ' + n } })
      words('The whole.')
      part({ type: 'message_delta', usage: { output_tokens: 2000 } })
      result('The whole.')`
    const { outcome, log } = await finish(place, parts)
    expect(outcome).toMatchObject({ exit_code: 0, message: 'The whole.' })
    expect(log.raws).toContain('The whole.')
    expect(log.raws).not.toContain('stream_event')
    const spent = log.entries.flatMap((entry) => (entry.type === 'usage' ? [entry.output_tokens] : []))
    expect(spent).toEqual([1, 1_999, 0])
  })

  test('goes on when its log fails, and reports that', async () => {
    const log = keptLog(new Error('disk full'))
    const { outcome } = await finish(place, `${echo}; process.stdout.write('x'.repeat(1e6) + '\\n')`, { log })
    expect(outcome).toMatchObject({ exit_code: 0, message: 'Its log could not be written: disk full' })
  })
})

describe('the end of a run', () => {
  const lingering = `result('Done.'); setInterval(() => {}, 1000)`

  test('is ended if it does not exit after its turn, and its result counts', async () => {
    const { outcome } = await finish(place, `words('Done.'); ${lingering}`, {}, 50)
    expect(outcome).toMatchObject({ ended: 'exited', exit_code: 0, conclusion: 'talked', message: 'Done.' })
  })

  test('may take its time for a queued turn', async () => {
    const body = `
      result('First.')
      say({ type: 'system', subtype: 'init' })
      setTimeout(() => { words('Second.'); result('Second.'); process.exit() }, 1500)`
    const { outcome } = await finish(place, body, {}, 1_000)
    expect(outcome).toMatchObject({ ended: 'exited', exit_code: 0, message: 'Second.' })
  })

  test('is gone with all its processes when stopped or timed out, and keeps its output', async () => {
    const body = `
      const child = require('node:child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
      words(String(child.pid))`
    const driver = createClaudeCodeDriver({ clock })
    const log = keptLog()
    const spoke = new Promise<void>((resolve) => (log.entry = (entry) => void (entry.type === 'message' && resolve())))
    const running = await driver.start(runOf(place, { log, config: { command: await writeProgram(place, body) } }), {
      signal: never,
    })
    await spoke
    await running.stop()
    await running.stop()
    const stopped = await running.outcome
    expect(stopped).toMatchObject({ ended: 'stopped', exit_code: 143, session_id: 's1' })
    expect(await isRunning(stopped.message)).toBe(false)

    const timedOut = await finish(place, `${body}; say({ type: 'noise' })`, { timeout_seconds: 1 })
    expect(timedOut.outcome).toMatchObject({ ended: 'timed_out', message: expect.stringContaining('1 s') as string })
    const pid = timedOut.log.entries.flatMap((entry) => (entry.type === 'message' ? [entry.text] : []))[0]
    expect(await isRunning(pid ?? '')).toBe(false)
  })

  test('receives messages until its turn has ended and refuses later ones', async () => {
    const body = `let n = 0; heard.on('line', (line) => {
      words(JSON.parse(line).message.content[0].text)
      if (++n === 2) result('x')
    })`
    const log = keptLog()
    const running = await createClaudeCodeDriver({ clock }).start(
      runOf(place, { log, config: { command: await writeProgram(place, body) } }),
      { signal: never },
    )
    await running.input('And this.')
    expect(await running.outcome).toMatchObject({ exit_code: 0, message: 'And this.' })
    expect(log.entries.map(({ type }) => type).sort()).toEqual(['message', 'message', 'prompt', 'prompt', 'usage'])
    await expect(running.input('Too late.')).rejects.toMatchObject({ name: 'ExecutorError', code: 'input_closed' })
  })
})
