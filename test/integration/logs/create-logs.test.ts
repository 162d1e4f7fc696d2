import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRedactor } from '../../../src-main/platform/text/redact.ts'
import type { AgentLog, EntryListener, Logs } from '../../../src-main/ports/logs.ts'
import { createLogs } from '../../../src-main/logs/create-logs.ts'
import { LogNameError } from '../../../src-main/logs/log-names.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { TranscriptItem } from '../../../src-shared/contract/events.ts'
import { ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { watchHeld } from '../../helpers/held-memory.ts'

const project_id = ProjectId.parse('0197a000-0000-7000-8000-000000000001')
const task_id = TaskId.parse('0197a000-0000-7000-8000-000000000002')
const execution_id = ExecutionId.parse('0197a000-0000-7000-8000-000000000003')
const other_id = ExecutionId.parse('0197a000-0000-7000-8000-000000000004')
const at = '2026-11-21T09:30:00.000Z'
const transcriptName = `agent-${execution_id}.jsonl`
const rawName = `agent-${execution_id}.raw.log`
const redact = createRedactor([], ['hunter2secret'])
const noSignal = { signal: new AbortController().signal }

let dir: string
let logs: Logs
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'logs-'))
  logs = createLogs({ dir })
})
afterEach(() => rmSync(dir, { recursive: true }))

const message = (text: string): TranscriptEntry => ({ type: 'message', at, text })
const openAgent = (onEntry?: EntryListener): Promise<AgentLog> =>
  logs.openAgent({ project_id, task_id, execution_id, redact, ...(onEntry && { onEntry }) })
const onDisk = (name: string): string => readFileSync(join(dir, task_id, name), 'utf8')

/** The texts with their numbers, up to the end of the stream or to the `count`th. */
async function collect(items: AsyncIterable<TranscriptItem>, count = Infinity): Promise<string[]> {
  const seen: string[] = []
  for await (const item of items) {
    seen.push(item.kind === 'end' ? 'end' : `${item.index} ${'text' in item.entry ? item.entry.text : item.entry.type}`)
    if (seen.length >= count) break
  }
  return seen
}

describe("an agent's log", () => {
  it('stores entries as JSON lines, and the bytes beside them, both redacted', async () => {
    const told: TranscriptEntry[] = []
    const log = await openAgent((_, shown) => told.push(shown()))
    log.entry(message('my hunter2secret'))
    log.entry({
      type: 'tool_call',
      at,
      id: '1',
      tool: 'Bash',
      action: 'run',
      target: 'echo hunter2secret',
      input: { command: 'echo hunter2secret', env: [{ hunter2secret: 1 }] },
      diff: null,
    })
    await log.raw(Buffer.from('raw hunter2'))
    await log.raw(Buffer.from('secret\n\u001b[1mbold'))
    await log.close()
    expect(onDisk(rawName)).toBe('raw [redacted]\n\u001b[1mbold')
    const lines = onDisk(transcriptName)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(lines).toEqual(told)
    expect(lines).toMatchObject([
      { text: 'my [redacted]' },
      { target: 'echo [redacted]', input: { command: 'echo [redacted]', env: [{ '[redacted]': 1 }] } },
    ])
  })

  it('is readable by its owner only', async () => {
    const log = await openAgent()
    await log.close()
    const modes = [join(dir, task_id), join(dir, task_id, rawName), join(dir, task_id, transcriptName)]
    expect(modes.map((path) => statSync(path).mode & 0o077)).toEqual([0, 0, 0])
  })

  it('cuts a very long text to valid JSON, and says how much is missing', async () => {
    const log = await openAgent()
    log.entry({ type: 'tool_result', at, id: '1', ok: true, text: '😀'.repeat(600_000) })
    await log.close()
    const entry = JSON.parse(onDisk(transcriptName)) as { text: string }
    expect(entry.text.length).toBeLessThan(1_100_000)
    expect(entry.text).toMatch(/😀\n\[151424 characters were left out here; the raw log has them\]$/u)
  })

  it('ignores what comes after its close, and may be closed twice', async () => {
    const log = await openAgent()
    log.entry(message('one'))
    await Promise.all([log.close(), log.close()])
    log.entry(message('late'))
    await log.raw(Buffer.from('late'))
    expect(onDisk(transcriptName).split('\n')).toHaveLength(2)
  })

  it('continues after a crash without the cut-off line', async () => {
    const first = await openAgent()
    first.entry(message('whole'))
    first.entry(message('cut'))
    await first.close()
    truncateSync(join(dir, task_id, transcriptName), onDisk(transcriptName).length - 5)
    logs = createLogs({ dir })
    const second = await openAgent()
    second.entry(message('after'))
    await second.close()
    expect(await collect(logs.follow(task_id, execution_id, 0, noSignal))).toEqual(['0 whole', '1 after', 'end'])
  })
})

describe('following a log', () => {
  it('returns entries from any line on, while it runs, after its end and after a restart', async () => {
    const log = await openAgent()
    for (const text of ['a', 'b', 'c']) log.entry(message(text))
    const running = [0, 2, 5].map((from) => collect(logs.follow(task_id, execution_id, from, noSignal)))
    for (const text of ['d', 'e', 'f']) log.entry(message(text))
    await log.close()
    const expected = ['0 a', '1 b', '2 c', '3 d', '4 e', '5 f', 'end']
    expect(await Promise.all(running)).toEqual([expected, expected.slice(2), expected.slice(5)])
    expect(await collect(logs.follow(task_id, execution_id, 3, noSignal))).toEqual(expected.slice(3))
    expect(await collect(createLogs({ dir }).follow(task_id, execution_id, 4, noSignal))).toEqual(expected.slice(4))
  })

  it('returns an entry as soon as it exists, to every follower', async () => {
    const log = await openAgent()
    const followers = Array.from({ length: 20 }, () =>
      logs.follow(task_id, execution_id, 0, noSignal)[Symbol.asyncIterator](),
    )
    for (const text of ['first', 'second']) {
      const next = followers.map((follower) => follower.next())
      log.entry(message(text))
      const seen = await Promise.all(next)
      expect(new Set(seen.map((item) => JSON.stringify(item.value)))).toHaveProperty('size', 1)
      expect(seen[0]?.value).toMatchObject({ entry: { text } })
    }
    await log.close()
    expect((await Promise.all(followers.map((follower) => follower.next())))[0]?.value).toEqual({ kind: 'end' })
    await Promise.all(followers.map(async (follower) => await follower.return?.()))
  })

  it('loses and duplicates nothing in a fast log', async () => {
    const log = await openAgent()
    const following = collect(logs.follow(task_id, execution_id, 0, noSignal))
    const texts = Array.from({ length: 5_000 }, (_, index) => `entry ${index} ${'x'.repeat(index % 300)}`)
    for (const text of texts) {
      log.entry(message(text))
      if (text.endsWith('x'.repeat(299))) await log.raw(Buffer.from('.'))
    }
    await log.close()
    expect(await following).toEqual([...texts.map((text, index) => `${index} ${text}`), 'end'])
  })

  it.runIf(process.platform === 'linux')('ends for a follower that leaves, and closes its file', async () => {
    const openFiles = (): number => readdirSync('/proc/self/fd').length
    const log = await openAgent()
    log.entry(message('one'))
    const before = openFiles()
    const controller = new AbortController()
    const gone = Array.from({ length: 10 }, () =>
      collect(logs.follow(task_id, execution_id, 0, { signal: controller.signal })),
    )
    const broken = collect(logs.follow(task_id, execution_id, 0, noSignal), 1)
    expect(await broken).toEqual(['0 one'])
    controller.abort()
    expect(await Promise.all(gone)).toSatisfy((all: string[][]) => all.every((seen) => seen.length <= 1))
    expect(openFiles()).toBe(before)
    await log.close()
  })

  it('skips a damaged line without renumbering the others', async () => {
    const log = await openAgent()
    log.entry(message('one'))
    await log.close()
    appendFileSync(join(dir, task_id, transcriptName), `\0\0\0\n${JSON.stringify(message('three'))}\n{"type":`)
    expect(await collect(logs.follow(task_id, execution_id, 0, noSignal))).toEqual(['0 one', '2 three', 'end'])
  })

  it('ends at once if there is no log', async () => {
    expect(await collect(logs.follow(task_id, other_id, 0, noSignal))).toEqual(['end'])
  })
})

describe('reading logs', () => {
  it('lists all logs of a task, or those of an execution', async () => {
    for (const id of [execution_id, other_id]) {
      const log = await logs.openAgent({ project_id, task_id, execution_id: id, redact })
      await log.close()
    }
    const ci = await logs.openFile(task_id, 'ci-1-0.log', redact)
    await ci.write('ok\n')
    await ci.close()
    appendFileSync(join(dir, task_id, 'note.txt'), 'not a log')
    const own = [rawName, transcriptName].sort()
    const others = [`agent-${other_id}.jsonl`, `agent-${other_id}.raw.log`]
    expect((await logs.list(task_id)).map((file) => file.name)).toEqual([...own, ...others, 'ci-1-0.log'].sort())
    expect((await logs.list(task_id, execution_id)).map((file) => file.name)).toEqual([...own, 'ci-1-0.log'].sort())
    expect((await logs.list(task_id)).at(-1)).toEqual({
      name: 'ci-1-0.log',
      kind: 'ci',
      size: 3,
      updated_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string,
    })
  })

  it('returns slices by bytes, complete only at the end of a closed log', async () => {
    const log = await logs.openFile(task_id, 'ci-1-0.log', redact)
    await log.write('one\ntwo\n')
    await log.close()
    const read = async (offset: number, limit: number): Promise<unknown> => {
      const slice = await logs.read(task_id, 'ci-1-0.log', offset, limit)
      return slice && [Buffer.from(slice.data_base64, 'base64').toString(), slice.next_offset, slice.complete]
    }
    expect(await read(0, 5)).toEqual(['one\nt', 5, false])
    expect(await read(5, 100)).toEqual(['wo\n', 8, true])
    expect(await read(99, 100)).toEqual(['', 8, true])
    const again = await logs.openFile(task_id, 'ci-1-0.log', redact)
    expect(await read(5, 100)).toEqual(['wo\n', 8, false])
    await again.close()
  })

  it('opens no log whose name leads out of the folder', async () => {
    appendFileSync(join(dir, 'agent-secret.log'), 'secret')
    for (const name of ['../agent-secret.log', 'agent-/../../x.log', '/etc/passwd', 'ci-1\0.log', 'copse.db']) {
      expect(await logs.read(task_id, name, 0, 100)).toBeNull()
      await expect(logs.openFile(task_id, name, redact)).rejects.toThrow(LogNameError)
    }
    await expect(logs.list('../..' as typeof task_id)).rejects.toThrow(LogNameError)
  })

  it('returns null for a missing log, and an empty list for a task without logs', async () => {
    expect(await logs.read(task_id, 'ci-9-9.log', 0, 100)).toBeNull()
    expect(await logs.list(task_id)).toEqual([])
  })
})

it('caps the log of a flooding script, says how much is missing, and needs little memory', async () => {
  const log = await logs.openFile(task_id, 'ci-1-0.log', redact)
  const chunk = Buffer.from(`${'€'.repeat(333)}\n`.repeat(64))
  const { isOver } = await watchHeld(32 * 1024 * 1024, async () => {
    for (let index = 0; index < 1_000; index++) await log.write(chunk)
    await log.close()
  })
  const { size } = statSync(join(dir, task_id, 'ci-1-0.log'))
  const cap = 50 * 1024 * 1024
  expect(size).toBeLessThan(cap + 100)
  expect(onDisk('ci-1-0.log').slice(-100)).toMatch(
    new RegExp(
      `€\\n\\[${String(chunk.length * 1_000 - cap).slice(0, 5)}\\d+ bytes of output were left out here\\]\\n$`,
    ),
  )
  expect(isOver).toBe(false)
})

it('keeps beginning and end of 200 MB of output, and says what is missing', async () => {
  const log = await logs.openAgent({ project_id, task_id, execution_id, redact })
  const line = `${'x'.repeat(1_023)}\n`
  const chunk = Buffer.from(line.repeat(1_024))
  await log.raw(Buffer.from('First words.\n'))
  for (let index = 0; index < 200; index++) await log.raw(chunk)
  // What comes beyond the limit is redacted at the end, wherever a secret was cut.
  await log.raw(Buffer.from('Of hunter2'))
  await log.raw(Buffer.from('secret.\nLast wo'))
  await log.raw(Buffer.from('rds.\n'))
  await log.close()
  const { size } = statSync(join(dir, task_id, rawName))
  expect(size).toBeLessThan(69 * 1024 * 1024)
  const text = onDisk(rawName)
  expect(text.startsWith('First words.\n')).toBe(true)
  expect(text.slice(-100)).toMatch(/x\nOf \[redacted\]\.\nLast words\.\n$/)
  const [, missing] = /\n\[(\d+) bytes of output were left out here\]\n/.exec(text) ?? []
  const note = `\n[${missing}] bytes of output were left out here\n`.length
  expect(Number(missing) + size - note).toBe(200 * chunk.length + 'First words.\nOf [redacted].\nLast words.\n'.length)
})
