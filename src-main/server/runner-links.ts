import type { Server as HttpServer } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionId, RunnerId } from '../../src-shared/contract/ids.ts'

/** Connections that come by the links of runners. */
export interface RunnerLinks {
  /** Serves a connection of a runner. */
  accept(connection: Duplex, runner_id: RunnerId): void
  /** Returns the runner by whose link a connection comes; null for any other connection. */
  of(connection: Duplex): RunnerId | null
  /** Returns whether a run is on the runner. */
  has(runner_id: RunnerId, execution_id: ExecutionId): boolean
}

export function createRunnerLinks(server: HttpServer, has: RunnerLinks['has']): RunnerLinks {
  const known = new WeakMap<Duplex, RunnerId>()
  return {
    has,
    of: (connection) => known.get(connection) ?? null,
    accept: (connection, runner_id) => {
      known.set(connection, runner_id)
      // No address of this machine, whose programs may do more.
      Object.defineProperty(connection, 'remoteAddress', { value: `runner-${runner_id}` })
      server.emit('connection', connection)
    },
  }
}
