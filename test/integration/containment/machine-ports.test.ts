import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { localPort } from '../../../src-shared/contract/allowed-hosts.ts'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { containmentIn, folderOutside } from './test-containment.ts'

const runnable = process.platform === 'linux' && (readMachine().available || process.env['CI'] !== undefined)

/** A server of this machine that answers with its name. */
async function serve(name: string, host = '127.0.0.1'): Promise<AsyncDisposable & { readonly port: number }> {
  const server: Server = createServer((_request, response) => response.end(`${name} `))
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

it.runIf(runnable)('lets a run reach the ports of this machine that its agent names, and no others', async () => {
  await using model = await serve('model')
  await using other = await serve('other')
  await using secret = await serve('secret')
  await using job = await startJob()
  const { client } = job.running
  const direct = 'fetch(process.argv[1]).then((a) => a.text()).then((text) => process.stdout.write(text))'
  const ask = (more: string, url: string) => `curl -sS -m 5 ${more} ${url} >> seen.txt 2>&1`
  const node = (url: string) =>
    `NODE_USE_ENV_PROXY= HTTP_PROXY= http_proxy= ${process.execPath} -e '${direct}' ${url} >> seen.txt`
  const command = [
    // Without a proxy, through one, by the name, and over IPv6.
    ask("--noproxy '*'", `http://127.0.0.1:${model.port}/`),
    ask("--noproxy ''", `http://127.0.0.1:${model.port}/`),
    ask("--noproxy ''", `http://localhost:${other.port}/`),
    ask("--noproxy '*' -6", `http://localhost:${other.port}/`),
    node(`http://localhost:${model.port}/`),
    `curl -s -m 5 --noproxy '*' http://127.0.0.1:${secret.port}/ >> leaked.txt`,
    `curl -s -f -m 5 --noproxy '' http://127.0.0.1:${secret.port}/ >> leaked.txt`,
    'true',
  ].join('; ')
  const config = {
    command,
    containment: 'worktree_and_hosts' as const,
    allowed_hosts: [`127.0.0.1:${model.port}`, `localhost:${other.port}`],
  }
  const agent = await client.call('agents.create', { name: 'Local', executor: 'command', config })
  const { task } = await job.claim(await job.task(), agent)
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'review' && !entry_barrier)
  const { path } = await client.call('tasks.workspace', { task_id: task.id })
  expect(await readFile(`${path}/seen.txt`, 'utf8')).toBe('model model other other model ')
  expect(await readFile(`${path}/leaked.txt`, 'utf8')).toBe('')
})

const box = folderOutside('machine-ports')
const containment = containmentIn(box)
afterAll(async () => {
  await containment.close()
  rmSync(box, { recursive: true, force: true })
})

/** Runs a script with these hosts; returns its output by lines, and the hosts that it was kept from. */
async function runWith(hosts: readonly string[], script: string): Promise<{ out: string[]; denied: string[] }> {
  await using repository = await createTestRepository()
  return await runIn(repository.path, hosts, script)
}

async function runIn(cwd: string, hosts: readonly string[], script: string): ReturnType<typeof runWith> {
  const denied: string[] = []
  const made = await containment.box({
    level: 'worktree_and_hosts',
    cwd,
    hosts,
    onDenied: ({ what, target, count }) => what === 'host' && count === 1 && denied.push(target),
  })
  const env = { PATH: process.env['PATH'] ?? '', HOME: box }
  const place = { cwd, env, stdin: 'ignore', box: made ?? undefined } as const
  const tree = await spawnTree('bash', ['-c', script], place)
  const [out] = await Promise.all([text(tree.stdout), text(tree.stderr), tree.ended])
  return { out: out.split(/\s+/).filter(Boolean), denied }
}
const curl = 'curl -fsS -m 5'

describe.runIf(runnable)('a port of this machine that a run may reach', () => {
  it('is reached through the proxy by each of its names', async () => {
    await using model = await serve('model')
    const urls = ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${model.port}/`)
    const script = urls.flatMap((url) => [`${curl} --noproxy '' ${url}`, `${curl} -p --noproxy '' ${url}`]).join(';')
    expect((await runWith([`127.0.0.1:${model.port}`], script)).out).toEqual(Array(4).fill('model'))
  })

  it('may be one of ::1 alone, or of a server that starts later', async () => {
    await using six = await serve('six', '::1')
    const late = createServer((_request, response) => response.end('late '))
    late.listen(0, '127.0.0.1')
    await once(late, 'listening')
    const { port } = late.address() as AddressInfo
    late.close()
    await once(late, 'close')
    const asked = (to: number) => `until ${curl} http://localhost:${to}/ 2>/dev/null; do sleep 0.02; done`
    const running = runWith([`127.0.0.1:${six.port}`, `127.0.0.1:${port}`], `${asked(six.port)}; ${asked(port)}`)
    late.listen(port, '127.0.0.1')
    try {
      expect((await running).out).toEqual(['six', 'late'])
    } finally {
      late.close()
    }
  })

  it('is none of what was saved before such hosts were refused', async () => {
    await using secret = await serve('secret')
    const url = `http://127.0.0.1:${secret.port}/`
    const script = `${curl} --noproxy '' ${url}; ${curl} --noproxy '*' ${url}`
    const old = ['127.0.0.1', 'localhost', '*.com', '127.0.0.1:70000', '127.0.0.1:80']
    const { out, denied } = await runWith(old, script)
    expect(out).toEqual([])
    expect(denied).toEqual([`127.0.0.1:${secret.port}`])
  })

  it('is not reached through the socket of another run', async () => {
    await using model = await serve('model')
    await using repository = await createTestRepository()
    const socket = `"$(cat tmp)/${model.port}.sock"`
    const [first, second] = await Promise.all([
      runIn(
        repository.path,
        [`127.0.0.1:${model.port}`],
        'echo "$TMPDIR" > .tmp; mv .tmp tmp; until [ -e done ]; do sleep 0.02; done; ls "$TMPDIR"',
      ),
      runIn(
        repository.path,
        [],
        `until [ -e tmp ]; do sleep 0.02; done; ${curl} --unix-socket ${socket} http://x/; touch done`,
      ),
    ])
    expect(first.out).toEqual([`${model.port}.sock`])
    expect(second.out).toEqual([])
  })
})

describe('allowed hosts that no run could reach', () => {
  const wrong = [
    ...[
      '127.0.0.1',
      'localhost',
      '127.0.0.2:11434',
      '127.0.0.1:80',
      '127.0.0.1:0',
      '127.0.0.1:65536',
      'localhost:3128',
    ],
    ...[
      '*.com',
      'host.test:0',
      'host.test:99999',
      '169.254.169.254',
      '0.0.0.0:80',
      '10.0.0.0/8',
      '127.1:80',
      '[::1]:8080',
      'a.localhost:8080',
      '*.co.uk',
      'metadata.google.internal',
      'nas',
      'http://a.test',
    ],
  ]

  it('are refused where they are set, with their position', async () => {
    await using job = await startJob()
    const { client } = job.running
    for (const host of wrong) {
      const config = { command: 'true', allowed_hosts: ['right.test', host] }
      const answer = await refused(client.call('agents.create', { name: 'Wide', executor: 'command', config }))
      expect(answer, host).toMatchObject({ code: 'validation_failed' })
      expect(JSON.stringify(answer.details), host).toContain('config.allowed_hosts.1')
      expect(await refused(job.settings({ allowed_hosts: [host] })), host).toMatchObject({ code: 'validation_failed' })
    }
    const right = ['a.test', '*.a.test', 'a.test:8443', '10.1.2.3:8080', 'localhost:11434', '127.0.0.1:1234']
    const config = { command: 'true', allowed_hosts: right }
    const agent = await client.call('agents.create', { name: 'Right', executor: 'command', config })
    // This machine is saved by one name.
    const saved = right.map((host) => host.replace('localhost', '127.0.0.1'))
    expect(agent.config.allowed_hosts).toEqual(saved)
    expect(right.map(localPort)).toEqual([null, null, null, null, 11434, 1234])
  })
})
