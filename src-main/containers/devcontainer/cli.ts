import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { guardTree } from '../../platform/process/orphan-guard.ts'
import { killByMarker } from '../../platform/process/process.ts'
import { treeVariable } from '../../platform/process/tree-variable.ts'
import { createTextTail } from '../../platform/text/text-tail.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { EngineAnswer } from '../engine-client.ts'

/** The folder of `@devcontainers/cli`, which is one file without dependencies. */
export const cliFolder = (): string =>
  dirname(createRequire(import.meta.url).resolve('@devcontainers/cli/package.json'))

export interface CliRun {
  /** Its complete environment. */
  readonly env: Readonly<Record<string, string>>
  readonly limitMs: number
}

/**
 * Runs a command of the dev container CLI to its end, `limitMs` at most: then it is ended with exit code 124. It runs in
 * a thread, because the packed app has no Node to start it with.
 */
export async function runCli(
  args: readonly string[],
  { env, limitMs, signal }: CliRun & Cancellable,
): Promise<EngineAnswer> {
  signal.throwIfAborted()
  const marker = randomUUID()
  const release = guardTree({ pid: 0, processMarker: `${treeVariable}=${marker}`, worktree: null })
  const worker = new Worker(join(cliFolder(), 'dist', 'spec-node', 'devContainersSpecCLI.js'), {
    argv: [...args],
    env: { ...env, [treeVariable]: marker },
    stdout: true,
    stderr: true,
  })
  const [stdout, stderr] = [createTextTail(65_536), createTextTail(65_536)]
  worker.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  worker.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const { promise: exited, resolve } = Promise.withResolvers<number>()
  let failure = ''
  worker.once('error', (error) => {
    failure = `${error instanceof Error ? error.message : String(error)}\n`
  })
  worker.once('exit', resolve)
  let isLate = false
  const stop = (): void => void worker.terminate()
  const timer = setTimeout(() => {
    isLate = true
    stop()
  }, limitMs)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const code = await exited
    signal.throwIfAborted()
    return { exit_code: isLate ? 124 : code, stdout: stdout.text(), stderr: `${stderr.text()}${failure}` }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    // A thread that is ended leaves the programs that it has started.
    await killByMarker(marker)
    release()
  }
}
