import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'
import {
  maxPortsLine,
  portsConnection,
  PortsMessage,
  type WantedConnection,
} from '../../../src-shared/contract/link-ports.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { linesOf } from '../../platform/link/lines.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { ownNetwork } from '../../platform/process/own-network.ts'
import type { JobSeeker } from '../../ports/runner-tokens.ts'

/** A job whose worktree has ports. */
export interface PortsOwner {
  readonly job: JobId
  readonly runner_id: RunnerId
  /** The ports of its worktree: none but these are reached here. */
  readonly ports: readonly number[]
}

/** Opens ports here for those of jobs elsewhere. */
export interface PortOpener {
  owner(job: JobId): PortsOwner | undefined
  /** Opens one. `reach`: null for one that is of this machine's network already. */
  open(owner: PortsOwner, there: number, reach: (() => Promise<Duplex | null>) | null): Promise<OpenPort>
}

export interface OpenPort {
  /** Its number there. */
  readonly there: number
  close(): Promise<void>
}

/** What one link carries of ports. */
export interface PortsOfLink {
  /** Takes a connection of the link; returns false for one with another purpose. */
  take(connection: Duplex, to: string): boolean
  /** Opens and closes ports here as the runner has told last and as its jobs may. */
  apply(): Promise<void>
  /** Closes them, and their connections. */
  close(): Promise<void>
}

/** How long a runner has to make a connection. */
const connectMs = 15_000
/** The number of connections at a time; the link has others for the service itself. */
const maxConnections = 300

type Listening = Extract<PortsMessage, { kind: 'listening' }>

export function createPortsOfLink({ runner_id, job_id }: JobSeeker, opener: PortOpener, log: Logger): PortsOfLink {
  const opened = new Map<string, OpenPort>()
  const calls = createCalls()
  let told: Listening = { kind: 'listening', network: null, ports: [] }
  let isTold = false
  let applying = Promise.resolve()

  const bring = async (): Promise<void> => {
    const { network, ports } = told
    const isHere = network !== null && network === ownNetwork()
    const wanted = new Map<string, { readonly owner: PortsOwner; readonly port: number }>(
      ports.flatMap(({ job, port }) => {
        const owner = job_id === null || job_id === job ? opener.owner(job) : undefined
        const mayBe = owner?.runner_id === runner_id && owner.ports.includes(port)
        return mayBe ? [[`${job} ${port} ${isHere}`, { owner, port }] as const] : []
      }),
    )
    for (const [key, one] of opened) {
      if (wanted.has(key)) continue
      opened.delete(key)
      await one.close()
    }
    for (const [key, { owner, port }] of wanted) {
      // Two jobs of one worktree may say that they listen on the same.
      if ([...opened.values()].some(({ there }) => there === port)) continue
      opened.set(key, await opener.open(owner, port, isHere ? null : () => calls.ask(owner.job, port)))
    }
  }
  const apply = (): Promise<void> =>
    (applying = applying.then(bring).catch((error: unknown) => {
      log.warn({ err: error, runner_id }, 'ports of a runner could not be opened')
    }))
  const tell = async (next: Listening): Promise<void> => {
    told = next
    await apply()
  }
  const forget = (): Promise<void> => tell({ kind: 'listening', network: null, ports: [] })
  const hear = async (from: Duplex): Promise<void> => {
    for await (const line of linesOf(from, maxPortsLine)) {
      const message = PortsMessage.safeParse(parseJson(line)).data
      if (message === undefined) return
      if (message.kind === 'refused') calls.answer(message.connection, null)
      // The next line is read once this one is done.
      else await tell(message)
    }
  }
  return {
    apply,
    take: (connection, to) => {
      if (to !== portsConnection || isTold) return calls.answer(to, connection)
      isTold = true
      calls.begin(connection)
      const end = (): void => {
        connection.destroy()
        void forget()
      }
      void hear(connection).then(end, end)
      return true
    },
    close: async () => {
      calls.end()
      await forget()
    },
  }
}

/** The connections that a runner is asked to make. */
function createCalls() {
  const waiting = new Map<string, (connection: Duplex | null) => void>()
  let to: Duplex | null = null
  let count = 0
  return {
    begin: (connection: Duplex): void => void (to = connection),
    /** Returns false where none of this name is waited for. */
    answer: (name: string, connection: Duplex | null): boolean => {
      const resolve = waiting.get(name)
      resolve?.(connection)
      return resolve !== undefined
    },
    ask: async (job: JobId, port: number): Promise<Duplex | null> => {
      if (to === null || to.destroyed || count >= maxConnections) return null
      count += 1
      const connection = randomUUID()
      const asked = Promise.withResolvers<Duplex | null>()
      const timer = setTimeout(() => asked.resolve(null), connectMs)
      waiting.set(connection, asked.resolve)
      const wanted: WantedConnection = { connection, job, port }
      to.write(`${JSON.stringify(wanted)}\n`)
      const made = await asked.promise
      clearTimeout(timer)
      waiting.delete(connection)
      if (made === null || made.destroyed) count -= 1
      else made.once('close', () => (count -= 1))
      return made
    },
    end: (): void => {
      to = null
      for (const resolve of waiting.values()) resolve(null)
    },
  }
}
