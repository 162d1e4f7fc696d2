import { createConnection } from 'node:net'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { JobId, RunnerId } from '../../src-shared/contract/ids.ts'
import type { ContainerBoxOptions, ReachedContainer } from '../containers/container-box.ts'
import type { Logger } from '../platform/logging/log.ts'
import { findListeners } from '../platform/process/listeners.ts'
import type { CarriedPorts } from './remote/carried-ports.ts'

const lookMs = 2_000

/** Returns how what listens in the containers of a runner, on ports of their worktrees, is reached on this machine. */
export function createContainerPorts(
  runner_id: RunnerId,
  ports: Pick<CarriedPorts, 'opened' | 'ofWorktree'>,
  log: Logger,
): NonNullable<ContainerBoxOptions['reachInto']> {
  return ({ processMarker, port_base, socket }) => {
    const job = processMarker as JobId
    const numbers = ports.ofWorktree(port_base)
    const opened = ports.opened({ job, runner_id, ports: numbers })
    let looking = Promise.resolve()
    const look = async (): Promise<void> => {
      const found = (await findListeners(processMarker)).filter(({ port }) => numbers.includes(port))
      await opened.become(
        new Map(found.map((one) => [one.port, one.isApart ? () => connectInto(socket, one) : null] as const)),
      )
    }
    const timer = setInterval(() => {
      looking = looking.then(look).catch((error: unknown) => {
        log.warn({ err: error, runner_id }, 'ports of a container could not be opened')
      })
    }, lookMs)
    timer.unref()
    return {
      [Symbol.asyncDispose]: async () => {
        clearInterval(timer)
        await looking
        await opened.become(new Map())
      },
    }
  }
}

async function connectInto(
  path: ReachedContainer['socket'],
  { host, port }: { readonly host: '127.0.0.1' | '::1'; readonly port: number },
): Promise<Duplex | null> {
  const socket = createConnection({ path, allowHalfOpen: true })
  try {
    await once(socket, 'connect')
  } catch {
    return null
  }
  socket.on('error', () => undefined)
  socket.write(host === '::1' ? `TCP6:[::1]:${port}\n` : `TCP4:127.0.0.1:${port}\n`)
  return socket
}
