import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readProcessTable } from '../../../../src-main/platform/process/process-table.ts'
import type { LogWriter } from '../../../../src-main/ports/logs.ts'
import type { ScriptRun } from '../../../../src-main/ports/scripts.ts'
import { createScripts } from '../../../../src-main/hooks/scripts/run-script.ts'
import { createScriptOutput } from '../../../../src-main/hooks/scripts/script-output.ts'

const scripts = createScripts()
let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'script-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(cwd, { recursive: true })
})

/** A log in memory that reports when a text has arrived. */
function memoryLog(): LogWriter & { readonly text: string; has(part: string): Promise<void> } {
  let text = ''
  const waiting: { part: string; resolve: () => void }[] = []
  return {
    get text() {
      return text
    },
    write(bytes) {
      text += Buffer.from(bytes as Uint8Array).toString()
      for (const one of waiting) if (text.includes(one.part)) one.resolve()
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    has: (part) =>
      new Promise((resolve) => {
        if (text.includes(part)) resolve()
        else waiting.push({ part, resolve })
      }),
  }
}

const script = (command: string, log: LogWriter, more: Partial<ScriptRun> = {}): ScriptRun => ({
  command,
  cwd,
  env: {},
  timeout_ms: 60_000,
  log,
  ...more,
})
const noSignal = { signal: new AbortController().signal }

async function alive(pid: number): Promise<boolean> {
  return (await readProcessTable()).some((row) => row.pid === pid && !row.zombie)
}

describe('a script', () => {
  it('runs in its folder, and keeps its output and exit code', async () => {
    const log = memoryLog()
    const result = await scripts.run(script('pwd; echo wrong >&2; exit 3', log), noSignal)
    expect(result).toEqual({
      exit_code: 3,
      timed_out: false,
      duration_ms: expect.any(Number) as number,
      output_tail: log.text,
    })
    expect(log.text.split('\n').sort()).toEqual(['', cwd, 'wrong'].sort())
  })

  it('sees its variables, and none of the service', async () => {
    vi.stubEnv('SVC_SECRET_TRACKER', 'hidden')
    vi.stubEnv('NODE_OPTIONS', '--no-warnings')
    const log = memoryLog()
    await scripts.run(script('env', log, { env: { SVC_TASK_ID: 't-1' } }), noSignal)
    const names = log.text.match(/^(?:SVC|NODE_OPTIONS|npm|ELECTRON)\w*/gm)
    expect(names?.sort()).toEqual(['SVC_PROCESS_TREE', 'SVC_TASK_ID'])
  })

  it('has no standard input', async () => {
    const result = await scripts.run(script('cat; echo read', memoryLog()), noSignal)
    expect(result).toMatchObject({ exit_code: 0, output_tail: 'read\n' })
  })

  it('leaves no process behind', async () => {
    const log = memoryLog()
    await scripts.run(script('sleep 300 & echo $!', log), noSignal)
    expect(await alive(Number(log.text))).toBe(false)
  })

  it('reports that its folder is gone', async () => {
    const log = memoryLog()
    const result = await scripts.run(script('true', log, { cwd: join(cwd, 'gone') }), noSignal)
    expect(result.exit_code).toBe(126)
    expect(log.text).toContain('is not there')
  })
})

describe('a script that is ended early', () => {
  it('ends with 124 at its time limit, with all its processes', async () => {
    const log = memoryLog()
    const result = await scripts.run(script('sleep 300 & echo $!; wait', log, { timeout_ms: 300 }), noSignal)
    expect(result).toMatchObject({ exit_code: 124, timed_out: true })
    expect(result.output_tail).toContain('longer than 0.3 s')
    expect(await alive(Number(log.text.split('\n')[0]))).toBe(false)
  })

  it('ends with 130 on cancel, with all its processes', async () => {
    const log = memoryLog()
    const controller = new AbortController()
    const running = scripts.run(script('sleep 300 & echo $!; wait', log), { signal: controller.signal })
    await log.has('\n')
    controller.abort()
    expect(await running).toMatchObject({ exit_code: 130, timed_out: false })
    expect(await alive(Number(log.text))).toBe(false)
  })

  it('does not start if it is already cancelled', async () => {
    const log = memoryLog()
    const result = await scripts.run(script('echo started', log), { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ exit_code: 130, output_tail: '' })
    expect(log.text).toBe('')
  })
})

describe('a script with much output', () => {
  it('waits for a slow log instead of filling the memory', async () => {
    let pending = 0
    let written = 0
    let most = 0
    const log: LogWriter = {
      async write(bytes) {
        pending += bytes.length
        most = Math.max(most, pending)
        await new Promise((resolve) => setImmediate(resolve))
        pending -= bytes.length
        written += bytes.length
      },
      close: () => Promise.resolve(),
    }
    const result = await scripts.run(
      script('yes "a line of output" | head -c 64000000; echo; echo the end', log),
      noSignal,
    )
    expect(written).toBe(64_000_009)
    expect(most).toBeLessThan(1_000_000)
    expect(Buffer.byteLength(result.output_tail)).toBeLessThanOrEqual(10 * 1024)
    expect(result.output_tail.startsWith('a line of output\n')).toBe(true)
    expect(result.output_tail.endsWith('the end\n')).toBe(true)
  })

  it('ends once its log has taken the last output', async () => {
    let written = ''
    const log: LogWriter = {
      async write(bytes) {
        await new Promise((resolve) => setImmediate(resolve))
        written += Buffer.from(bytes).toString()
      },
      close: () => Promise.resolve(),
    }
    const stdout = new Readable({ read: () => undefined })
    stdout.push('the end\n')
    stdout.push(null)
    await createScriptOutput(script('', log)).collect('stdout', stdout)
    expect(written).toBe('the end\n')
  })

  it('keeps lines of both outputs whole', async () => {
    const log = memoryLog()
    const half = (text: string, target: string): string =>
      `for i in 1 2 3; do printf %s ${text} >&${target}; sleep 0.02; printf '%s\\n' -rest >&${target}; done`
    await scripts.run(script(`(${half('out', '1')}) & (sleep 0.01; ${half('err', '2')}) & wait`, log), noSignal)
    expect(log.text.trim().split('\n').sort()).toEqual([...Array(3).fill('err-rest'), ...Array(3).fill('out-rest')])
  })

  it('ends although its log fails, and reports that', async () => {
    const log: LogWriter = {
      write: () => Promise.reject(new Error('disk full')),
      close: () => Promise.resolve(),
    }
    await expect(scripts.run(script('yes | head -c 1000000', log), noSignal)).rejects.toThrow('disk full')
  })
})
