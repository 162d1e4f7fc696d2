import { spawn } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { once } from 'node:events'

/**
 * Resolves when this program's stdout is a pipe without a reader; never resolves if that is unknown. Node
 * notices only at a write, and a stream may be idle for hours while the pipeline waits for it. GNU's `tail` checks
 * its own stdout: it shares ours, writes nothing, and exits with its reader or with this program.
 */
export async function stdoutClosed(): Promise<void> {
  if (process.platform !== 'linux' || !fstatSync(1).isFIFO()) return never
  const args = ['-f', `--pid=${process.pid}`, '/dev/null']
  const tail = spawn('tail', args, { stdio: ['ignore', 'inherit', 'ignore'] })
  tail.unref()
  process.once('exit', () => tail.kill())
  try {
    const [, signal] = (await once(tail, 'exit')) as [number | null, string | null]
    if (signal !== 'SIGPIPE') return await never
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return await never
  }
}

const never = new Promise<never>(() => undefined)
