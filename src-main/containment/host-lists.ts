import type { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { hostProblem, localPort } from '../../src-shared/contract/allowed-hosts.ts'
import {
  addressOf,
  forwardPort,
  thisMachine,
  type ForwardedRun,
  type Forwarder,
} from '../platform/process/port-forwarders.ts'
import type { BoxRequest } from '../ports/containment.ts'
import { keepFromProxies } from './library.ts'

type Manager = typeof SandboxManager

export interface HostLists {
  readonly allowed: readonly string[]
  /** Lets a command reach the allowed hosts. */
  add(manager: Manager, commandId: string): void
  remove(manager: Manager, commandId: string): void
  allow(host: string): void
}

/** Keeps the allowed hosts of each command of a box. */
export function createHostLists({ hosts = [] }: Pick<BoxRequest, 'hosts'>): HostLists {
  // Agents and projects may have others from before these were refused.
  const allowed = hosts.filter((host) => hostProblem(host) === null)
  const commands = new Map<string, Manager>()
  const tell = (manager: Manager, id: string): void =>
    manager.registerCommandNetworkLists(id, { allowedDomains: allowed.flatMap(asProxied) })
  return {
    allowed,
    add: (manager, id) => {
      commands.set(id, manager)
      tell(manager, id)
    },
    remove: (manager, id) => {
      commands.delete(id)
      manager.unregisterCommandNetworkLists(id)
    },
    allow: (host) => {
      allowed.push(host)
      for (const [id, manager] of commands) tell(manager, id)
    },
  }
}

/** Private networks are reached by the proxy too, since the run itself has no other way. */
const noProxy = 'localhost,127.0.0.1,::1'
export const noProxyVariables = ['NODE_USE_ENV_PROXY=1', `NO_PROXY=${noProxy}`, `no_proxy=${noProxy}`] as const

/** Returns an allowed host as the proxy compares it: a port of this machine by each of its names. */
function asProxied(host: string): readonly string[] {
  const port = localPort(host)
  return port === null ? [host] : ['127.0.0.1', 'localhost', '[::1]'].map((address) => `${address}:${port}`)
}

/** Forwards the service's API, which the proxies lead no run to, and the allowed ports of this machine. */
export async function forwardHosts(
  run: ForwardedRun,
  apiUrl: string | null,
  hosts: readonly string[],
): Promise<readonly Forwarder[]> {
  const ports = new Map(hosts.map((host) => [localPort(host), thisMachine]))
  if (apiUrl !== null) {
    const api = new URL(apiUrl)
    keepFromProxies(api)
    const [host, port] = addressOf(api)
    ports.set(port, [host])
  }
  return await Promise.all([...ports].flatMap(([port, host]) => (port === null ? [] : forwardPort(run, host, port))))
}
