import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import type { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { identify, isAlive, ProcessStartError, reap, spawnTree } from '../../../../src-main/platform/process/process.ts'
import type { ProcessTree } from '../../../../src-main/platform/process/process.ts'
import { readProcessTable, readPs } from '../../../../src-main/platform/process/process-table.ts'

const trees: ProcessTree[] = []
afterEach(async () => {
  await Promise.all(trees.splice(0).map((tree) => tree.stop({ graceMs: 0 })))
})

const environment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }

async function shell(script: string, env: Record<string, string> = {}): Promise<ProcessTree> {
  const options = { cwd: tmpdir(), env: { ...environment, ...env }, stdin: 'ignore' } as const
  const tree = await spawnTree('/bin/sh', ['-c', script], options)
  trees.push(tree)
  return tree
}

/** Reads until `count` numbers were printed. */
async function pids(output: Readable, count: number): Promise<number[]> {
  let text = ''
  for await (const chunk of output.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString()
    const found = text.match(/\d+(?=\n)/g) ?? []
    if (found.length >= count) return found.map(Number)
  }
  throw new Error(`The output ended early: ${text}`)
}

async function alive(list: readonly number[]): Promise<number[]> {
  const running = new Set((await readProcessTable()).filter((row) => !row.zombie).map((row) => row.pid))
  return list.filter((pid) => running.has(pid))
}

const linux = process.platform === 'linux'

describe('stopping a tree', () => {
  it('ends children and grandchildren', async () => {
    const tree = await shell('sleep 300 & echo $!; sh -c "sleep 300 & echo \\$!; wait" & echo $!; wait')
    const all = [tree.process.pid, ...(await pids(tree.stdout, 3))]
    expect(await alive(all)).toEqual(all)
    await tree.stop()
    expect(await alive(all)).toEqual([])
    expect(await tree.ended).toEqual({ exit_code: 143, signal: 'SIGTERM', survivors: [] })
  })

  it.runIf(linux)('ends a child that left the group, even if its parent is gone', async () => {
    const tree = await shell('(setsid sh -c "echo \\$\\$; exec sleep 300" &); wait; sleep 300')
    const [stray = 0] = await pids(tree.stdout, 1)
    const row = (await readProcessTable()).find((one) => one.pid === stray)
    expect(row?.pgid).toBe(stray)
    await tree.stop()
    expect(await alive([stray])).toEqual([])
  })

  it('kills after the grace period what ignores SIGTERM', async () => {
    const tree = await shell(
      'trap "" TERM; sh -c "trap \\"\\" TERM; echo \\$\\$; while :; do sleep 1; done" & echo $$; wait; while :; do sleep 1; done',
    )
    const all = await pids(tree.stdout, 2)
    await tree.stop({ graceMs: 100 })
    expect(await alive(all)).toEqual([])
    expect(await tree.ended).toMatchObject({ exit_code: 137, signal: 'SIGKILL' })
  })

  it('waits ten seconds by default', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const tree = await shell('trap "" TERM; echo $$; while :; do sleep 1; done')
      const all = await pids(tree.stdout, 1)
      const stopped = tree.stop()
      vi.setSystemTime(Date.now() + 9_900)
      // It is checked many times until then.
      for (let looks = 0; looks < 20; looks++) expect(await alive(all)).toEqual(all)
      vi.setSystemTime(Date.now() + 100)
      await stopped
      expect(await tree.ended).toMatchObject({ signal: 'SIGKILL' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('lets a process finish its work on SIGTERM', async () => {
    const tree = await shell('trap "echo cleaned; exit 7" TERM; echo 1; while :; do sleep 0.05; done')
    await pids(tree.stdout, 1)
    const rest = text(tree.stdout)
    await tree.stop()
    expect(await rest).toContain('cleaned')
    expect((await tree.ended).exit_code).toBe(7)
  })

  it('may be repeated, with the shorter grace period, and after the end', async () => {
    const tree = await shell('trap "" TERM; echo 1; while :; do sleep 1; done')
    await pids(tree.stdout, 1)
    await Promise.all([tree.stop({ graceMs: 60_000 }), tree.stop({ graceMs: 0 })])
    await tree.stop()
    expect((await tree.ended).signal).toBe('SIGKILL')
  })
})

describe('a tree that ends by itself', () => {
  it('ends the children that it left in the background', async () => {
    const tree = await shell('sleep 300 >/dev/null 2>&1 & echo $!; exit 3')
    const left = await pids(tree.stdout, 1)
    expect(await tree.ended).toEqual({ exit_code: 3, signal: null, survivors: [] })
    expect(await alive(left)).toEqual([])
  })

  it.runIf(linux)('ends its output even if an unfound process holds the pipe', async () => {
    const tree = await shell('(env -i setsid sh -c "echo \\$\\$; exec sleep 300" &); sleep 0.2')
    const [escaped = 0] = await pids(tree.stdout, 1)
    try {
      await tree.ended
      expect(await text(tree.stdout)).toBe('')
      expect(await alive([escaped])).toEqual([escaped])
    } finally {
      process.kill(escaped, 'SIGKILL')
    }
  })

  it('delivers all of its output, however late it is read', async () => {
    const tree = await shell('head -c 50000 /dev/zero; exit 0')
    await tree.ended
    let size = 0
    for await (const chunk of tree.stdout as AsyncIterable<Buffer>) size += chunk.length
    expect(size).toBe(50_000)
  })
})

describe('a process that cannot start', () => {
  it.each([
    ['no-such-program-at-all', tmpdir(), 'not_found'],
    [import.meta.filename, tmpdir(), 'not_executable'],
    ['/bin/sh', '/no/such/folder', 'no_directory'],
    ['/bin/sh', import.meta.filename, 'no_directory'],
    ['/bin/sh\0', tmpdir(), 'failed'],
  ])('says why: %s in %s', async (program, cwd, code) => {
    const failure = await spawnTree(program, [], { cwd, env: environment, stdin: 'ignore' }).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(ProcessStartError)
    expect((failure as ProcessStartError).code).toBe(code)
  })
})

describe('leftovers of a killed service', () => {
  it('are identified by pid and start time', async () => {
    const tree = await shell('sleep 300')
    expect(await identify(tree.process.pid)).toEqual(tree.process)
    expect(await isAlive(tree.process)).toBe(true)
    expect(await isAlive({ ...tree.process, started: `1${tree.process.started}` })).toBe(false)
    await tree.stop()
    expect(await isAlive(tree.process)).toBe(false)
  })

  it('are ended with all their processes', async () => {
    const tree = await shell('sleep 300 & echo $!; wait', { SVC_EXECUTION_ID: 'reap-1' })
    const all = [tree.process.pid, ...(await pids(tree.stdout, 1))]
    await reap(tree.process, 'reap-1')
    expect(await alive(all)).toEqual([])
  })

  it.runIf(linux)('are found by their execution when the first process is gone', async () => {
    const child = spawn('/bin/sh', ['-c', 'read go; sleep 300 & echo $!'], {
      detached: true,
      env: { ...environment, SVC_EXECUTION_ID: 'reap-2' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const leader = await identify(child.pid ?? 0)
    child.stdin.end('go\n')
    const left = await pids(child.stdout, 1)
    child.stdout.destroy()
    expect(leader).not.toBeNull()
    if (leader) await reap(leader, 'reap-2')
    expect(await alive(left)).toEqual([])
  })

  it('are not looked for in a process with a reused pid', async () => {
    const stranger = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
    const now = await identify(stranger.pid ?? 0)
    const earlier = linux ? now?.started.replace(/^\d+/, '1') : 'Sat Nov 21 10:00:00 2020'
    await reap({ pid: stranger.pid ?? 0, started: earlier ?? '' }, 'somebody-else')
    expect(await alive([stranger.pid ?? 0])).toHaveLength(1)
    const ended = once(stranger, 'exit')
    stranger.kill('SIGKILL')
    await ended
  })
})

it.runIf(linux)('lists processes by ps as from /proc', async () => {
  const tree = await shell('sleep 300')
  const [row] = await readPs(['-p', String(tree.process.pid)])
  const same = (await readProcessTable()).find((one) => one.pid === tree.process.pid)
  expect(row).toMatchObject({ pid: same?.pid, ppid: same?.ppid, pgid: same?.pgid, zombie: false })
  expect(Math.abs((row?.order ?? 0) - Date.now())).toBeLessThan(60_000)
})

it.runIf(linux)('lists processes newer than a child, or all if that is not new', async () => {
  const at = performance.now()
  const tree = await shell('(setsid sh -c "echo \\$\\$; exec sleep 300" &); sleep 300')
  const child = tree.process.pid
  const [stray = 0] = await pids(tree.stdout, 1)
  const since = (await readProcessTable({ pid: child, at })).map((row) => row.pid)
  expect(since).toEqual(expect.arrayContaining([child, stray]))
  const all = (await readProcessTable({ pid: child, at: at - 1_000 })).map((row) => row.pid)
  expect(all).toEqual(expect.arrayContaining([process.ppid, process.pid, child, stray]))
})

async function text(output: Readable): Promise<string> {
  let all = ''
  for await (const chunk of output as AsyncIterable<Buffer>) all += chunk.toString()
  return all
}
