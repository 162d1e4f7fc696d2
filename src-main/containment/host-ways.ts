import { randomBytes } from 'node:crypto'
import { forwardPort, thisMachine } from '../platform/process/port-forwarders.ts'
import type { BoxRequest, HostWays } from '../ports/containment.ts'
import { createDenials, readDenial } from './denials.ts'
import { createHostLists, forwardHosts, noProxyVariables } from './host-lists.ts'
import { loadLibrary, watchDenials } from './library.ts'
import { proxyCredentials, watchAnswers } from './watch-answers.ts'

/** Creates the ways of a box that is not ours. The library must be held while they are used. */
export function createHostWays(request: BoxRequest, apiUrl: () => string | null): HostWays {
  const hosts = createHostLists(request)
  return {
    allowHost: hosts.allow,
    open: async (run) => {
      const manager = await loadLibrary()
      const [port, token] = [manager.getProxyPort(), manager.getProxyAuthToken()]
      if (port === undefined || token === undefined) throw new Error('The proxy of the allowed hosts does not listen.')
      const id = randomBytes(24).toString('base64url')
      const denials = createDenials(request.onDenied ?? (() => undefined))
      const unwatch = await watchDenials(id, (line) => {
        const denial = readDenial(line)
        if (denial) denials.add(denial)
      })
      const unwatchAnswers = request.onAnswer && watchAnswers(id, request.onAnswer)
      hosts.add(manager, id)
      const forwarders = [
        ...(await forwardHosts(run, apiUrl(), hosts.allowed)),
        await forwardPort(run, thisMachine, port),
      ]
      return {
        forwarders,
        env: proxyVariables(`${proxyCredentials(id, token)}@localhost:${port}`),
        close: async () => {
          unwatch()
          unwatchAnswers?.()
          denials.end()
          hosts.remove(manager, id)
          await Promise.all(forwarders.map((forwarder) => forwarder[Symbol.asyncDispose]()))
        },
      }
    },
  }
}

/** Returns the variables by which programs use a proxy, which takes tunnels and SOCKS at one address. */
function proxyVariables(address: string): Readonly<Record<string, string>> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'GRPC_PROXY']
  const proxies = [...names, ...names.map((name) => name.toLowerCase())].map((name) => [name, `http://${address}`])
  const ftp = ['FTP_PROXY', 'ftp_proxy'].map((name) => [name, `socks5h://${address}`])
  return Object.fromEntries([
    ...proxies,
    ...ftp,
    ...noProxyVariables.map((variable) => variable.split(/=(.*)/s).slice(0, 2)),
    // Git asks no helper for the proxy's password.
    ['GIT_CONFIG_PARAMETERS', "'http.proxyAuthMethod=basic'"],
  ]) as Record<string, string>
}
