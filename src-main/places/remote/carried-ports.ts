import type { Duplex } from 'node:stream'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'
import { arePortsFree } from '../../git/free-ports.ts'
import { openLinkPort, type LinkPort } from '../../platform/link/link-port.ts'
import { createKeyedLock } from '../../platform/locks/keyed-lock.ts'
import type { Logger } from '../../platform/logging/log.ts'
import type { JobSeeker } from '../../ports/runner-tokens.ts'
import {
  createPortsOfLink,
  type OpenPort,
  type PortOpener,
  type PortsOfLink,
  type PortsOwner,
} from './ports-of-link.ts'

/** The ports of worktrees on which programs elsewhere listen, as ports of this machine. */
export interface CarriedPorts {
  /** Lets the ports of a job be reached here until it is disposed of. */
  allow(owner: PortsOwner): Disposable
  /** Begins with a link, on which a runner tells what its jobs listen on. */
  ofLink(seeker: JobSeeker): PortsOfLink
  /** Returns what keeps the ports of a job open that are reached in another way than by a link. */
  opened(owner: PortsOwner): OpenedPorts
  /** Returns the ports of the worktree whose first one this is. */
  ofWorktree(port_base: number): readonly number[]
  /** Returns where those of a worktree are reached here, in the order of its ports. */
  reached(runner_id: RunnerId, ports: readonly number[]): readonly number[]
}

interface OpenedPorts {
  /** Opens these, each with what reaches it, and closes all others. null: it is of this machine's network already. */
  become(wanted: ReadonlyMap<number, (() => Promise<Duplex | null>) | null>): Promise<void>
}

export function createCarriedPorts({
  log,
  portsFrom,
}: {
  readonly log: Logger
  readonly portsFrom: CarriedPorts['ofWorktree']
}): CarriedPorts {
  const owners = new Map<JobId, PortsOwner>()
  const links = new Set<PortsOfLink>()
  const open = new Map<OpenPort, { readonly runner_id: RunnerId; readonly port: number }>()
  // One after the other, so that none takes the number that another has just found free.
  const turns = createKeyedLock()
  const applyAll = (): void => {
    for (const link of links) void link.apply()
  }
  const opener: PortOpener = {
    owner: (job) => owners.get(job),
    open: async ({ runner_id, ports }, there, reach) => {
      const made = reach === null ? null : await turns.run('open', () => openFree(reach, ports, there))
      const one: OpenPort = {
        there,
        close: async () => {
          open.delete(one)
          await made?.close()
        },
      }
      open.set(one, { runner_id, port: made?.port ?? there })
      return one
    },
  }
  return {
    allow: (owner) => {
      owners.set(owner.job, owner)
      applyAll()
      const end = (): void => {
        owners.delete(owner.job)
        applyAll()
      }
      return { [Symbol.dispose]: end }
    },
    opened: (owner) => {
      const now = new Map<number, OpenPort>()
      return {
        become: async (wanted) => {
          for (const [there, one] of now) {
            if (wanted.has(there)) continue
            now.delete(there)
            await one.close()
          }
          for (const [there, reach] of wanted)
            if (!now.has(there)) now.set(there, await opener.open(owner, there, reach))
        },
      }
    },
    ofWorktree: portsFrom,
    reached: (runner_id, ports) =>
      [...open]
        .filter(([{ there }, at]) => at.runner_id === runner_id && ports.includes(there))
        .toSorted(([a], [b]) => a.there - b.there)
        .map(([, { port }]) => port),
    ofLink: (seeker) => {
      const link = createPortsOfLink(seeker, opener, log)
      links.add(link)
      const close = async (): Promise<void> => {
        links.delete(link)
        await link.close()
      }
      return { ...link, close }
    },
  }
}

/** Opens the port itself, else the next free one of its worktree, else any. */
async function openFree(
  reach: () => Promise<Duplex | null>,
  ports: readonly number[],
  wanted: number,
): Promise<LinkPort> {
  const at = ports.indexOf(wanted)
  for (const port of [...ports.slice(at), ...ports.slice(0, at)]) {
    const made = (await arePortsFree([port])) ? await openLinkPort(reach, port).catch(() => null) : null
    if (made !== null) return made
  }
  return await openLinkPort(reach)
}
