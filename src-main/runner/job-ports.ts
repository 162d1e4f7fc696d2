import { createConnection } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ExecutionId, JobId } from '../../src-shared/contract/ids.ts'
import {
  maxPortsLine,
  maxTold,
  portsConnection,
  WantedConnection,
  type PortsMessage,
} from '../../src-shared/contract/link-ports.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'
import { linesOf } from '../platform/link/lines.ts'
import type { OutgoingLink } from '../platform/link/link.ts'
import { joinStreams } from '../platform/link/link-port.ts'
import type { Logger } from '../platform/logging/log.ts'
import { createListenerSearch, type Listener } from '../platform/process/listeners.ts'
import { ownNetwork } from '../platform/process/own-network.ts'

interface WatchedJob {
  readonly job: JobId
  readonly execution_id: ExecutionId | null
}

/** The ports on which programs of jobs listen here, which the service reaches by its link. */
export interface JobPorts {
  /** Tells of the ports of a job until it is disposed of. */
  watch(job: WatchedJob): Disposable
  /** Tells a service, and makes the connections that it asks for, until the link ends. */
  carry(link: OutgoingLink): void
}

const lookMs = 1_000
const connectMs = 10_000

export function createJobPorts(log: Pick<Logger, 'warn'>): JobPorts {
  const jobs = new Set<WatchedJob>()
  const search = createListenerSearch()
  const jobOf = ({ tree }: Listener): JobId | undefined =>
    [...jobs].find(
      ({ job, execution_id }) =>
        tree.processMarker === job || (execution_id !== null && tree.env['SVC_EXECUTION_ID'] === execution_id),
    )?.job
  const find = async () =>
    (await search()).flatMap((one) => {
      const job = jobOf(one)
      return job === undefined ? [] : { job, port: one.port, host: one.host }
    })
  return {
    watch: (job) => {
      jobs.add(job)
      return { [Symbol.dispose]: () => void jobs.delete(job) }
    },
    carry: (link) => {
      const telling = link.connect(portsConnection)
      if (telling === null) return
      const tell = (message: PortsMessage): void => void telling.write(`${JSON.stringify(message)}\n`)
      let told = ''
      let isLooking = false
      const look = async (): Promise<void> => {
        if (isLooking || jobs.size + told.length === 0) return
        isLooking = true
        try {
          const ports = (await find()).map(({ job, port }) => ({ job, port })).slice(0, maxTold)
          const text = ports.length === 0 ? '' : JSON.stringify(ports)
          if (text !== told && !telling.destroyed) tell({ kind: 'listening', network: ownNetwork(), ports })
          told = text
        } catch (error) {
          log.warn({ err: error }, 'the ports of jobs can’t be looked for')
        } finally {
          isLooking = false
        }
      }
      const timer = setInterval(() => void look(), lookMs)
      telling.once('close', () => clearInterval(timer))
      void look()
      const answer = async (): Promise<void> => {
        for await (const line of linesOf(telling, maxPortsLine)) {
          const wanted = WantedConnection.safeParse(parseJson(line)).data
          if (wanted === undefined) return void telling.destroy()
          const { connection } = wanted
          void connect(wanted, link).catch(() => tell({ kind: 'refused', connection }))
        }
      }
      void answer().catch(() => telling.destroy())
    },
  }

  /** Connects to a port of a job that something listens on now, whatever was told before. */
  async function connect(wanted: WantedConnection, link: OutgoingLink): Promise<void> {
    const found = (await find()).find(({ job, port }) => job === wanted.job && port === wanted.port)
    if (found === undefined) throw new Error('Nothing of this job listens there.')
    const { host, port } = found
    const socket = createConnection({ host, port, allowHalfOpen: true, timeout: connectMs })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject)
      socket.once('timeout', () => socket.destroy(new Error('It does not answer.')))
    })
    socket.setTimeout(0)
    const carried: Duplex | null = link.connect(wanted.connection)
    if (carried === null) socket.destroy()
    else joinStreams(socket, carried)
  }
}
