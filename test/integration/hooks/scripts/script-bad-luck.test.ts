import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createOutputCapture } from '../../../../src-main/platform/text/output-capture.ts'
import { startHelper } from '../../../bench/child.ts'
import type { FloodAnswer, FloodRequest } from '../../../bench/script-flood.ts'
import { createProcessBeacon, wait } from '../../../helpers/process-beacon.ts'
import { alive, createScriptFolder } from './captured-run.ts'

const linux = process.platform === 'linux'
const pidsIn = (text: string): number[] => [...text.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid))

/** A capture that reports when it has seen a text. */
function watched(part: string) {
  const capture = createOutputCapture({ maxBytes: 10 * 1024, redact: (text) => text })
  const seen = Promise.withResolvers<void>()
  const push = (bytes: Uint8Array): void => {
    capture.push(bytes)
    if (capture.text().includes(part)) seen.resolve()
  }
  return { capture: { push, text: capture.text }, seen: seen.promise }
}

describe.runIf(linux)('a script that leaves a process behind', () => {
  it.each([
    ['in the background', 'sleep 300 & echo pid $!'],
    ['in a session of its own', 'setsid sh -c "echo pid \\$\\$; exec sleep 300" & sleep 0.1'],
    ['by a double fork', '(setsid sh -c "(echo pid \\$\\$; exec sleep 300) &" &); sleep 0.1'],
    ['with its outputs closed', 'setsid sh -c "echo pid \\$\\$; exec sleep 300 >/dev/null 2>&1" & sleep 0.1'],
    ['that ignores SIGTERM', `(trap '' TERM; echo pid $(sh -c 'echo $PPID'); while :; do sleep 1; done) & sleep 0.1`],
  ])('ends with it: %s', async (_, command) => {
    using folder = createScriptFolder()
    const { exit_code, stdout } = await folder.run(`${command}; exit 5`)
    const left = pidsIn(stdout)
    expect(left).toHaveLength(1)
    expect([exit_code, await alive(left)]).toEqual([5, []])
  })

  it('ends with it at the time limit and on cancel', async () => {
    await using beacon = await createProcessBeacon()
    using folder = createScriptFolder()
    const command = beacon.hold('tree', `(setsid bash -c "(sleep 300) & sleep 300" &); sleep 300 & ${wait}`)
    const late = folder.run(command, { timeout_ms: 1_500 })
    await beacon.gone('tree', 1)
    expect(await late).toMatchObject({
      exit_code: 124,
      timed_out: true,
      stderr: '\nStopped: it ran longer than 1.5 s.\n',
    })
    const abort = new AbortController()
    const cancelled = folder.run(command, {}, abort.signal)
    await beacon.alive('tree', 2)
    abort.abort()
    await beacon.gone('tree', 2)
    expect(await cancelled).toMatchObject({ exit_code: 130, timed_out: false })
  })
})

describe('a script that ignores its end', () => {
  it('is killed when it ignores SIGTERM longer than the grace period', async () => {
    using folder = createScriptFolder(200)
    const { capture, seen } = watched('ready\n')
    const abort = new AbortController()
    const command = `trap '' TERM; echo pid $$; echo ready; while :; do sleep 0.05; done`
    const run = folder.run(command, { stdout: capture }, abort.signal)
    await seen
    abort.abort()
    expect((await run).exit_code).toBe(130)
    expect(await alive(pidsIn(capture.text()))).toEqual([])
  })

  it('may tidy up on SIGTERM, and that output is kept', async () => {
    using folder = createScriptFolder()
    const { exit_code, stdout } = await folder.run(
      `trap 'echo tidied up; exit 0' TERM; echo started; while :; do sleep 0.02; done`,
      { timeout_ms: 300 },
    )
    expect([exit_code, stdout]).toEqual([124, 'started\ntidied up\n'])
  })

  it.each([0, 1, 3, 77, 124, 255])('ends with its own exit code: %i', async (code) => {
    using folder = createScriptFolder()
    expect(await folder.run(`exit ${code}`)).toMatchObject({ exit_code: code, timed_out: false })
  })

  it('ends with 128 plus the number of the signal', async () => {
    using folder = createScriptFolder()
    expect((await folder.run('kill -KILL $$')).exit_code).toBe(137)
  })

  it('has neither input nor terminal to wait for', async () => {
    using folder = createScriptFolder()
    const { exit_code, stdout } = await folder.run('read -r line; echo "read $? $line"; cat; test -t 0; echo "tty $?"')
    expect([exit_code, stdout]).toEqual([0, 'read 1 \ntty 1\n'])
  })

  it('may delete its working directory', async () => {
    using folder = createScriptFolder()
    const { exit_code, stdout } = await folder.run('rm -rf "$PWD"; echo gone; exit 6')
    expect([exit_code, stdout]).toEqual([6, 'gone\n'])
    expect(await folder.run('true')).toMatchObject({
      exit_code: 126,
      stderr: `Could not be started: The directory ${folder.path} is not there.\n`,
    })
  })

  it('reports that its directory is none', async () => {
    using folder = createScriptFolder()
    await folder.run('echo > file')
    const cwd = join(folder.path, 'file')
    const stderr = `Could not be started: ${cwd} is not a directory.\n`
    expect(await folder.run('true', { cwd })).toMatchObject({ exit_code: 126, stderr })
  })
})

describe('the output of a script', () => {
  it('is kept, even if it is no UTF-8', async () => {
    using folder = createScriptFolder()
    const { stdout, stderr } = await folder.run(String.raw`printf 'a\377\200b\303'; printf '\342\202\254 wrong' >&2`)
    expect([stdout, stderr]).toEqual(['a\ufffd\ufffdb\ufffd', '€ wrong'])
  })

  it('is reported while it comes, not for each piece, and once at the end', async () => {
    using folder = createScriptFolder()
    await using beacon = await createProcessBeacon()
    const { capture } = watched('')
    const told: string[] = []
    const first = Promise.withResolvers<void>()
    const onOutput = (): void => {
      told.push(capture.text())
      first.resolve()
    }
    const pieces = 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; done'
    const run = folder.run(beacon.hold('it', `${pieces}; ${wait}; echo the end`), { stdout: capture, onOutput })
    await first.promise
    await beacon.release('it')
    await run
    const all = '1\n2\n3\n4\n5\n6\n7\n8\n9\n'
    expect(told).toEqual([all, `${all}the end\n`])
    const silent = vi.fn()
    await folder.run('true', { onOutput: silent })
    expect(silent).not.toHaveBeenCalled()
  })

  it('may be 1 GB within 32 MB of memory, with the right end', async () => {
    using folder = createScriptFolder()
    await using flood = startHelper<FloodRequest, FloodAnswer>(
      new URL('../../../bench/script-flood.ts', import.meta.url),
    )
    const command = `yes 'a line of output' | head -c 1000000000; echo; echo the end; exit 9`
    const { exit_code, stdout, growth_mb } = await flood.ask({ command, cwd: folder.path })
    expect(growth_mb).toBeLessThanOrEqual(32)
    expect(exit_code).toBe(9)
    const [note = '', ...shown] = stdout.split('\n')
    expect(note).toMatch(/^\[999,989,\d{3} bytes before this were left out\]$/)
    expect(`${'a line of output\n'.repeat(700)}a line \nthe end\n`.endsWith(shown.join('\n'))).toBe(true)
    expect(Buffer.byteLength(stdout)).toBeGreaterThan(9 * 1024)
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(10 * 1024)
  })
})
