import { spawnTree } from '../../platform/process/process.ts'
import { createTextTail } from '../../platform/text/text-tail.ts'
import type { Cancellable } from '../../ports/cancellable.ts'

interface Command extends Pick<Parameters<typeof spawnTree>[2], 'cwd' | 'env' | 'processMarker'> {
  readonly file: string
  readonly args: readonly string[]
  readonly limitMs: number
}

const [graceMs, maxOutput] = [2_000, 65_536] as const

/** Runs a command that reads nothing until it ends, its limit has passed or it is cancelled; then its tree ends. */
export async function runToEnd(
  { file, args, limitMs, ...options }: Command,
  { signal }: Cancellable,
): Promise<{ readonly exit_code: number | null; readonly output: string }> {
  const tree = await spawnTree(file, args, { ...options, stdin: 'ignore' })
  const stop = (): void => void tree.stop({ graceMs })
  const timer = setTimeout(stop, limitMs)
  signal.addEventListener('abort', stop, { once: true })
  // It may have been cancelled while it was started.
  if (signal.aborted) stop()
  const output = createTextTail(maxOutput)
  for (const stream of [tree.stdout, tree.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  const { exit_code } = await tree.ended
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  return { exit_code, output: output.text() }
}
