import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { readMachine } from '../../../src-main/containment/machine.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { startContainerBench } from '../../helpers/container-bench.ts'
import { runnerConfig, startContainerJob, useTestEngine } from '../../helpers/container-job.ts'
import { present } from '../../helpers/present.ts'

const found = await useTestEngine()
const isTested = found !== null && (readMachine().available || process.env['CI'] !== undefined)
const config = () => runnerConfig(present(found), { network: 'hosts' })

async function serve(name: string) {
  const server = createServer((_request, response) => response.end(`${name} `)).listen(0, '0.0.0.0')
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

const isDenied = (entry: TranscriptEntry) => entry.type === 'denied'

describe.runIf(isTested)('a container with a list of hosts', () => {
  test('reaches these and Copse, by every way that programs have, and nothing else', async () => {
    await using copse = await serve('copse')
    await using listed = await serve('listed')
    await using stranger = await serve('stranger')
    const abstract = createSocketServer((connection) => connection.end('abstract')).listen(`\0copse-box-${process.pid}`)
    await once(abstract, 'listening')
    const url = `http://127.0.0.1:${copse.port}`
    await using bench = await startContainerBench(config(), () => url)
    const denied: string[] = []
    const outside = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
    const others = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0.0.0.0',
      '2130706433',
      ...outside.filter((one) => !one.includes(':')),
    ]
    const curl = 'curl -sS -m 5'
    const { out } = await bench.run(
      `say() { printf '%s: ' "$1"; shift; "$@" 2>&1 | head -c 200 | tr '\n' ' '; echo; }
say copse ${curl} "$SVC_API_URL/"
say direct ${curl} --noproxy '*' http://127.0.0.1:${listed.port}/
say proxied ${curl} --noproxy '' http://localhost:${listed.port}/
say tunnel ${curl} --noproxy '' -p http://127.0.0.1:${listed.port}/
say socks ${curl} --noproxy '' -x "$FTP_PROXY" http://127.0.0.1:${listed.port}/
say named ${curl} -o /dev/null -w '%{http_code}' http://listed.invalid/
say strange ${curl} -o /dev/null -w '%{http_code}' http://strange.invalid/
for host in ${others.join(' ')}; do
  say other ${curl} -m 2 --noproxy '*' "http://$host:${stranger.port}/"
  say other ${curl} -m 2 --noproxy '' "http://$host:${stranger.port}/"
  say other ${curl} -m 2 --noproxy '' -p "http://$host:${stranger.port}/"
  say other ${curl} -m 2 --noproxy '' -x "$FTP_PROXY" "http://$host:${stranger.port}/"
done
say past ${curl} --noproxy '' -x "$HTTP_PROXY" http://127.0.0.1:${copse.port}/
say bare ${curl} -o /dev/null -w '%{http_code}' --noproxy '' -x "http://\${HTTP_PROXY##*@}" http://127.0.0.1:${listed.port}/
say routes wc -l /proc/net/route
say devices sh -c 'grep -vcE "^(Inter-| face|  *lo:)" /proc/net/dev'
say abstract grep -c copse-box-${process.pid} /proc/net/unix`,
      {
        env: { SVC_API_URL: url },
        request: {
          level: 'worktree_and_hosts',
          hosts: [`127.0.0.1:${listed.port}`, 'listed.invalid'],
          onDenied: ({ what, target, count }) => denied.push(`${what} ${target} ${count}`),
        },
      },
    )
    abstract.close()
    const said = (name: string) => out.split('\n').flatMap((line) => line.match(`^${name}: (.*)`)?.[1]?.trim() ?? [])
    expect(said('copse')).toEqual(['copse'])
    for (const way of ['direct', 'proxied', 'tunnel', 'socks']) expect(said(way), way).toEqual(['listed'])
    expect(said('strange')).toEqual(['403'])
    expect(said('named')).toEqual([expect.stringMatching(/^50\d$/)])
    expect(said('other')).toHaveLength(4 * others.length)
    expect(said('other').filter((text) => text.includes('stranger'))).toEqual([])
    expect(said('past')).not.toEqual(['copse'])
    expect(said('bare')).toEqual(['407'])
    expect([said('routes'), said('devices'), said('abstract')]).toEqual([['1 /proc/net/route'], ['0'], ['0']])
    expect(denied).toContain('host strange.invalid 1')
    expect(denied).toContain(`host 127.0.0.1:${stranger.port} 1`)
  })

  test('does not reach the hosts of another run', async () => {
    await using one = await serve('one')
    await using bench = await startContainerBench(config())
    const ask = `curl -s -m 5 --noproxy '' http://127.0.0.1:${one.port}/; echo`
    const [first, second] = await Promise.all([
      bench.run(ask, { request: { hosts: [`127.0.0.1:${one.port}`] } }),
      bench.run(ask),
    ])
    expect(first.out).toBe('one')
    expect(second.out).not.toContain('one')
  })
})

describe.runIf(isTested)('a run on a runner with allowed hosts', () => {
  test('counts as limited to them, shows what was denied, and reaches a host once it is allowed', async () => {
    await using job = await startContainerJob(config())
    const { client } = job.running
    const agent = await client.call('agents.create', {
      name: 'Limited',
      executor: 'command',
      config: {
        command: `while [ "$(curl -s -o /dev/null -w '%{http_code}' -m 5 http://later.invalid/)" = 403 ]; do sleep 0.05; done; curl -s http://never.invalid/; true`,
        containment: 'worktree_and_hosts',
      },
    })
    const { execution, task } = await job.claim(await job.task(), agent)
    const get = () => client.call('executions.get', { execution_id: execution.id })
    const { asks = [] } = await job.running.eventually(get, ({ asks: all = [] }) => all.length > 0)
    const [ask] = asks
    expect(ask).toMatchObject({ target: 'later.invalid', action: 'fetch' })
    const answer = { ask_id: present(ask).id, option_id: 'allow' }
    await client.call('executions.answer', { execution_id: execution.id, ...answer })
    const [ended] = await job.running.eventually(
      () => job.executions(task.id),
      ([run]) => run?.finished_at != null,
    )
    expect(ended).toMatchObject({ status: 'succeeded', containment: 'worktree_and_hosts' })
    const entries: TranscriptEntry[] = []
    for await (const item of client.transcript({ execution_id: execution.id }, null, AbortSignal.timeout(20_000)))
      if (item.kind === 'entry') entries.push(item.entry)
    expect(entries.filter(isDenied)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: 'host', target: 'later.invalid' }),
        expect.objectContaining({ what: 'host', target: 'never.invalid' }),
      ]),
    )
  })
})
