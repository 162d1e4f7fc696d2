import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { portOfThisMachine } from '../../../src-shared/contract/containment.ts'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

const runnable = process.platform === 'linux' && (readMachine().available || process.env['CI'] !== undefined)

/** A server of this machine that answers with its name. */
async function serve(name: string): Promise<AsyncDisposable & { readonly port: number }> {
  const server: Server = createServer((_request, response) => response.end(`${name} `))
  server.listen(0, '127.0.0.1')
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
    expect(agent.config.allowed_hosts).toEqual(right)
    expect(right.map(portOfThisMachine)).toEqual([null, null, null, null, 11434, 1234])
  })
})
