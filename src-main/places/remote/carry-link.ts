import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'
import { jobProtocol } from '../../../src-shared/contract/jobs.ts'
import { acceptLink, toService } from '../../platform/link/link.ts'
import { linkMark, NoLink, startCarrier } from '../../platform/link/marked-start.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { RunnerTokens } from '../../ports/runner-tokens.ts'
import type { CarriedPorts } from './carried-ports.ts'

/** The runner's program as it is brought there: its name tells its content. */
export async function readProgram(file: string): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const bytes = await readFile(file)
  return { name: `runner-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.mjs`, bytes }
}

/** The program `link` there, by its input and output. */
interface LinkProgram {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  close(): Promise<void> | void
}

interface LinkOptions extends Cancellable {
  readonly runner_id: RunnerId
  /** The job that the runner is there for alone; absent for all of its jobs. */
  readonly job_id?: JobId
  readonly tokens: Pick<RunnerTokens, 'make'>
  readonly onConnection: (connection: Duplex, runner_id: RunnerId) => void
  readonly ports: Pick<CarriedPorts, 'ofLink'>
  readonly onLinked?: () => void
}

/**
 * Carries one link until it breaks, and closes the program then. Throws `NoLink`, with what the program said of it,
 * where none began.
 */
export async function carryLink(
  { stdin, stdout, stderr, close }: LinkProgram,
  { runner_id, job_id, tokens, onConnection, ports, onLinked, signal }: LinkOptions,
): Promise<void> {
  const { token, end } = tokens.make(runner_id, job_id)
  const stop = (): void => void close()
  signal.addEventListener('abort', stop, { once: true })
  const carried = ports.ofLink({ runner_id, job_id: job_id ?? null })
  let said = ''
  stderr.setEncoding('utf8').on('data', (chunk: string) => (said = (said + chunk).slice(-maxSaid)))
  try {
    const carrier = await startCarrier(stdout, stdin, linkMark(jobProtocol), JSON.stringify({ token }))
    const link = acceptLink(carrier, (connection, to) => {
      if (to === toService) onConnection(connection, runner_id)
      else if (!carried.take(connection, to)) connection.destroy()
    })
    onLinked?.()
    await link.closed
  } catch (error) {
    if (!(error instanceof NoLink)) throw error
    // What it says of its end may come after the end of its output.
    await close()
    throw new NoLink(said.trim() || error.message || 'The connection ended at once.')
  } finally {
    end()
    await carried.close()
    signal.removeEventListener('abort', stop)
    await close()
  }
}

/** Of what a program says beside a link, in characters. */
const maxSaid = 2_000
