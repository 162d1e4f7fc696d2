import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { createOutputCapture } from '../../../src-main/platform/text/output-capture.ts'
import { createRedactor } from '../../../src-main/platform/text/redact.ts'
import { createScripts } from '../../../src-main/hooks/scripts/run-script.ts'
import { createLogs } from '../../../src-main/logs/create-logs.ts'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import { memoryFolder } from '../memory-folder.ts'
import type { BenchRow } from '../row.ts'

/** Few runs a round and many rounds, so that both sides of a round see the same machine. */
const sizes = { full: 20, quick: 4 } as const
/** What the shell itself does: nothing. */
const command = ':'

/**
 * A hook that does nothing, from its start until its log is on disk: its process tree ended, both outputs captured and
 * redacted, one line of JSON in a file of its own. The floor is a bare spawn of the same shell with the same command,
 * read to its end. A round's value is the lower quartile of its runs, in
 * milliseconds: what else the machine does only ever adds, and to the side that happens to wait for it.
 */
export const scriptOverhead: BenchRow = {
  name: 'script-hook-overhead',
  unit: 'ms',
  better: 'lower',
  goal: 1.5,
  rounds: { full: { warmUp: 5, measured: 51 }, quick: { warmUp: 0, measured: 1 } },
  prepare: async ({ scale }) => {
    const folder = await mkdtemp(join(await memoryFolder(), 'copse-bench-hooks-'))
    const hooks = createHooks(folder)
    let ran = 0
    return {
      product: async () => {
        ran += sizes[scale]
        return await quartileOf(sizes[scale], hooks.run)
      },
      floor: () => quartileOf(sizes[scale], () => spawnBare(folder)),
      verify: () => hooks.verify(ran),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

async function quartileOf(times: number, run: () => Promise<void>): Promise<number> {
  const took: number[] = []
  for (let time = 0; time < times; time++) {
    const since = performance.now()
    await run()
    took.push(performance.now() - since)
  }
  return took.toSorted((a, b) => a - b)[times >> 2] ?? Infinity
}

async function spawnBare(cwd: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`The shell ended with ${code}.`)
}

function createHooks(cwd: string) {
  const scripts = createScripts()
  const logs = createLogs({ dir: join(cwd, 'logs') })
  const redact = createRedactor(['internal-[0-9]+'], ['correct-horse-battery'])
  const task_id = TaskId.parse(v7())
  const env = { SVC_EVENT: 'on_work_stop', SVC_TASK_ID: task_id, SVC_TASK_TITLE: 'A task', SVC_WORKTREE_PATH: cwd }
  const { signal } = new AbortController()
  let number = 0
  return {
    run: async () => {
      const stdout = createOutputCapture({ maxBytes: 10 * 1024, redact })
      const stderr = createOutputCapture({ maxBytes: 10 * 1024, redact })
      const script = { command, cwd, env, timeout_ms: 30_000, stdout, stderr, processMarker: randomUUID() }
      const { exit_code, duration_ms } = await scripts.run(script, { signal })
      const said = { stdout: stdout.text(), stderr: stderr.text() }
      const line = { event: 'on_work_stop', index: 0, type: 'script', command, exit_code, duration_ms, ...said }
      const log = await logs.openFile(task_id, `hook-on_work_stop-0-${number++}.jsonl`, (text) => text)
      await log.write(`${JSON.stringify({ ...line, environment: env })}\n`)
      await log.close()
    },
    verify: async (ran: number) => {
      const folder = join(cwd, 'logs', task_id)
      const names = await readdir(folder)
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
      const succeeded = texts.filter((text) => (JSON.parse(text) as { exit_code: number }).exit_code === 0)
      if (succeeded.length !== ran) throw new Error(`${succeeded.length} of ${ran} hooks have a log of their success.`)
    },
  }
}
