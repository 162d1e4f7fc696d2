import { tmpdir } from 'node:os'
import { createTextTail } from '../../platform/text/text-tail.ts'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { ProcessStartError, spawnTree } from '../../platform/process/process.ts'
import type { ProcessTree } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'

const versionLimitMs = 5_000

/** The version in what `program --version` prints; null when it prints none within 5 s. */
export async function readVersion(path: string, { signal }: Cancellable): Promise<string | null> {
  signal.throwIfAborted()
  const tree = await startVersion(path)
  if (!tree) return null
  const stop = (): void => void tree.stop({ graceMs: 500 })
  const timer = setTimeout(stop, versionLimitMs)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [output] = await Promise.all([readAll(tree), tree.ended])
    const { exit_code } = await tree.ended
    signal.throwIfAborted()
    return exit_code === 0 ? (/\d+\.\d+(?:\.\d+)?[\w.+-]*/.exec(output)?.[0] ?? null) : null
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** null when the file is no program after all. */
async function startVersion(path: string): Promise<ProcessTree | null> {
  try {
    return await spawnTree(path, ['--version'], { cwd: tmpdir(), env: childEnvironment({}), stdin: 'ignore' })
  } catch (error) {
    if (error instanceof ProcessStartError) return null
    throw error
  }
}

async function readAll(tree: ProcessTree): Promise<string> {
  const tail = createTextTail(4_096)
  tree.stderr.resume()
  for await (const chunk of tree.stdout as AsyncIterable<Buffer>) tail.push(chunk)
  return tail.text()
}
