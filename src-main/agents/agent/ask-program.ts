import { tmpdir } from 'node:os'
import { createTextTail } from '../../platform/text/text-tail.ts'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { ProcessStartError, spawnTree } from '../../platform/process/process.ts'
import type { ProcessTree } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { ProgramAnswer } from '../../ports/agent-programs.ts'
import type { Variables } from './agent-profile.ts'

const limitMs = 5_000

/** Runs a program with arguments for at most 5 s and returns its output, or null if the file can't be run. */
export async function askProgram(
  path: string,
  args: readonly string[],
  { signal, env }: Cancellable & { readonly env?: Variables },
): Promise<ProgramAnswer | null> {
  signal.throwIfAborted()
  const tree = await start(path, args, env)
  if (!tree) return null
  const stop = (): void => void tree.stop({ graceMs: 500 })
  const timer = setTimeout(stop, limitMs)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [stdout, stderr] = await Promise.all([readAll(tree.stdout), readAll(tree.stderr), tree.ended])
    const { exit_code } = await tree.ended
    signal.throwIfAborted()
    return { exit_code, stdout, stderr }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

async function start(path: string, args: readonly string[], env: Variables | undefined): Promise<ProcessTree | null> {
  try {
    return await spawnTree(path, args, { cwd: tmpdir(), env: childEnvironment({}, env), stdin: 'ignore' })
  } catch (error) {
    if (error instanceof ProcessStartError) return null
    throw error
  }
}

async function readAll(output: ProcessTree['stdout']): Promise<string> {
  const tail = createTextTail(4_096)
  for await (const chunk of output as AsyncIterable<Buffer>) tail.push(chunk)
  return tail.text()
}
