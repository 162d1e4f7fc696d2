import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tryIn, type Attempt } from './attempts.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const root = folderOutside('hosts')
const worktree = join(root, 'data', 'workspaces', 'own')

/** What the names of this test lead to, as the DNS of a host may change at any time. */
const names: Readonly<Record<string, string>> = {
  'loopback.test': '127.0.0.1',
  'other-loopback.test': '127.9.9.9',
  'any.test': '0.0.0.0',
  'mapped.test': '::ffff:127.0.0.1',
  'six.test': '::1',
  'metadata.test': '169.254.169.254',
}
const lookup = dns.lookup
const asked = new Set<string>()
type Found = (error: NodeJS.ErrnoException | null, all: dns.LookupAddress[]) => void
function answer(name: string, options: dns.LookupAllOptions, found: Found): void {
  const address = names[name]
  if (address === undefined) return lookup(name, options, found)
  asked.add(name)
  found(null, [{ address, family: address.includes(':') ? 6 : 4 }])
}

const reached: string[] = []
const serve = (name: string) =>
  createServer((request, response) => {
    reached.push(`${name} ${request.headers.host ?? ''}${request.url ?? ''}`)
    response.writeHead(request.url?.startsWith('/to/') === true ? 302 : 200, { location: request.url?.slice(4) })
    response.end(name)
  })
const copse = serve('copse')
const stranger = serve('stranger')
const listed = serve('listed')
const resolver = createSocket('udp4', () => reached.push('resolver'))
const abstract = createSocketServer((connection) => connection.end('abstract'))
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

const containment = containmentIn(root, { apiUrl: () => `http://127.0.0.1:${portOf(copse)}` })
const runnable = process.platform === 'linux' && isContainable(containment)

beforeAll(async () => {
  if (!runnable) return
  Object.assign(dns, { lookup: answer })
  syncBuiltinESMExports()
  mkdirSync(worktree, { recursive: true })
  execFileSync('git', ['init', '-q', worktree])
  for (const server of [copse, stranger, listed]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  resolver.bind(0, '127.0.0.1')
  await once(resolver, 'listening')
  abstract.listen(`\0copse-${process.pid}`)
  await once(abstract, 'listening')
})

afterAll(async () => {
  await containment.close()
  for (const server of [copse, stranger, listed, abstract, resolver]) server.close()
  Object.assign(dns, { lookup })
  syncBuiltinESMExports()
  rmSync(root, { recursive: true, force: true })
})

/** Speaks to the proxy byte by byte: `$P` is its address, `$A` the run's own credentials for it. */
const raw = (...lines: readonly string[]): string =>
  `U=\${HTTP_PROXY#http://}; U=\${U//%3D/=}; A=$(printf %s "\${U%@*}" | base64 -w0); P=\${U#*@}; ` +
  `exec 3<>/dev/tcp/\${P%:*}/\${P#*:}; printf '${lines.join(String.raw`\r\n`).replaceAll('%s', `'"$A"'`)}' >&3; timeout 2 cat <&3 | grep -q stranger`

const spellings = [
  ...[
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0177.0.0.1',
    '0x7f.1',
    '127.1',
    '127.0.1',
    '127.0.0.2',
    '0',
    '0.0.0.0',
  ],
  ...['127.0.0.1.', 'localhost.', 'LOCALHOST', 'a.localhost', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ...['[0:0:0:0:0:ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '%31%32%37.0.0.1', '①②⑦.0.0.1', 'allowed.test@127.0.0.1'],
]

function attempts(): readonly Attempt[] {
  const port = portOf(stranger)
  const ask = (url: string, more = '') =>
    `curl -fsS -m 3 --noproxy '' ${more} -x "$HTTP_PROXY" '${url}' | grep -q stranger`
  const own = portOf(copse)
  return [
    ...spellings.map((host): Attempt => [`this machine as ${host}`, ask(`http://${host}:${port}/`)]),
    ...spellings.map((host): Attempt => [`this machine as ${host}, by a tunnel`, ask(`http://${host}:${port}/`, '-p')]),
    ...Object.keys(names).flatMap((host): readonly Attempt[] => [
      [`an allowed host that is now ${names[host]}`, ask(`http://${host}:${port}/`)],
      [`the same by a tunnel: ${host}`, ask(`http://${host}:${port}/`, '-p')],
      [
        `the same by SOCKS: ${host}`,
        `curl -fsS -m 3 --noproxy '' -x "$FTP_PROXY" http://${host}:${port}/ | grep -q stranger`,
      ],
    ]),
    [
      'Copse as an allowed host',
      `curl -fsS -m 3 --noproxy '' -p -x "$HTTP_PROXY" http://loopback.test:${own}/ | grep -q copse`,
    ],
    [
      'Copse as a port of this machine',
      `curl -fsS -m 3 --noproxy '' -x "$HTTP_PROXY" http://127.0.0.1:${own}/ | grep -q copse`,
    ],
    ['a redirect', ask(`http://127.0.0.1:${portOf(listed)}/to/http://127.0.0.1:${port}/`, '-L')],
    ['SOCKS', `curl -fsS -m 3 --noproxy '' -x "$FTP_PROXY" http://127.0.0.1:${port}/ | grep -q stranger`],
    [
      'SOCKS by an address',
      `curl -fsS -m 3 --noproxy '' -x "$(printf %s "$FTP_PROXY" | sed s/socks5h:/socks5:/)" http://localhost:${port}/ | grep -q stranger`,
    ],
    ['another host in the header', ask(`http://127.0.0.1:${port}/`, `-H 'Host: 127.0.0.1:${portOf(listed)}'`)],
    [
      'a second request on the same connection',
      raw(
        `GET http://127.0.0.1:${portOf(listed)}/ HTTP/1.1`,
        `Host: 127.0.0.1:${portOf(listed)}`,
        'Proxy-Authorization: Basic %%s',
        '',
        `GET http://127.0.0.1:${port}/ HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        'Proxy-Authorization: Basic %%s',
        'Connection: close',
        '',
        '',
      ).replaceAll('%%s', '%s'),
    ],
    [
      'a request hidden in the body of another',
      raw(
        `POST http://127.0.0.1:${portOf(listed)}/ HTTP/1.1`,
        `Host: 127.0.0.1:${portOf(listed)}`,
        'Proxy-Authorization: Basic %s',
        'Content-Length: 4',
        'Transfer-Encoding: chunked',
        '',
        '0',
        '',
        `GET http://127.0.0.1:${port}/ HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        'Proxy-Authorization: Basic %s',
        '',
        '',
      ),
    ],
    [
      'a tunnel with another host in its header',
      raw(
        `CONNECT 127.0.0.1:${port} HTTP/1.1`,
        `Host: 127.0.0.1:${portOf(listed)}`,
        'Proxy-Authorization: Basic %s',
        '',
        `GET / HTTP/1.1`,
        'Host: x',
        '',
        '',
      ),
    ],
    [
      'the proxy without its password',
      `curl -fsS -m 3 --noproxy '' -x "http://\${HTTP_PROXY##*@}" http://127.0.0.1:${portOf(listed)}/ | grep -q listed`,
    ],
    ...['srt', 'srt.', 'srt.eA%3D', 'copse', 'srt.%20', 'srt.X19wcm90b19f'].map((user): Attempt => [
      `the proxy as ${user}`,
      `curl -fsS -m 3 --noproxy '' -x "http://${user}:\${HTTP_PROXY#http://*:}" http://127.0.0.1:${portOf(listed)}/ | grep -q listed`,
    ]),
    ['a very long header', ask(`http://127.0.0.1:${port}/`, `-H "X: $(head -c 60000 /dev/zero | tr '\\0' x)"`)],
    ['metadata by IPv6', ask('http://[fd00:ec2::254]/')],
    ['a packet to a resolver', `echo x > /dev/udp/127.0.0.1/${portOf(resolver)}`, () => reached.includes('resolver')],
    ['an abstract socket', `socat -u ABSTRACT-CONNECT:copse-${process.pid} - | grep -q abstract`],
    ['the machine’s interfaces', "grep -vE '^(Inter-| face|  *lo:)' /proc/net/dev | grep -q ."],
    ['a raw packet', `"$NODE" -e "1" && ping -c1 -W1 127.0.0.1 && ping -c1 -W1 192.0.2.1`],
  ]
}

describe.runIf(runnable)('a run with its own hosts', () => {
  it('reaches no others, however it asks', async () => {
    const all = attempts()
    expect(all.length).toBeGreaterThanOrEqual(85)
    const hosts = [`127.0.0.1:${portOf(listed)}`, ...Object.keys(names)]
    expect(await tryIn(containment, { level: 'worktree_and_hosts', cwd: worktree, home: root, hosts }, all)).toEqual([])
    expect([...asked].toSorted()).toEqual(Object.keys(names).toSorted())
    expect(reached.filter((one) => one.startsWith('stranger') || one.startsWith('copse'))).toEqual([])
  })

  it('reaches its own by the same ways', async () => {
    const url = `http://127.0.0.1:${portOf(listed)}/`
    const ways: readonly Attempt[] = [
      ['the proxy', `curl -fsS -m 3 --noproxy '' -x "$HTTP_PROXY" ${url} | grep -q listed`],
      ['a tunnel', `curl -fsS -m 3 --noproxy '' -p -x "$HTTP_PROXY" ${url} | grep -q listed`],
      ['SOCKS', `curl -fsS -m 3 --noproxy '' -x "$FTP_PROXY" ${url} | grep -q listed`],
      [
        'bytes of its own',
        raw(
          `GET ${url} HTTP/1.1`,
          `Host: 127.0.0.1:${portOf(listed)}`,
          'Proxy-Authorization: Basic %s',
          'Connection: close',
          '',
          '',
        ).replace(/stranger$/, 'listed'),
      ],
    ]
    const hosts = [`127.0.0.1:${portOf(listed)}`]
    const worked = await tryIn(containment, { level: 'worktree_and_hosts', cwd: worktree, home: root, hosts }, ways)
    expect(worked).toEqual(ways.map(([what]) => what))
  })
})
