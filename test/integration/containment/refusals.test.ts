import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const outside = folderOutside('refused')
afterAll(() => {
  rmSync(outside, { recursive: true, force: true })
})

/** A proxy of the machine behind which every server refuses. */
async function startRefusing(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(429, { 'retry-after': '3600' }).end('Slow down.')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe.runIf(isContainable(containmentIn(outside)))('a contained run whose model server refuses it', () => {
  it('waits for the reset that the server’s headers name and the agent drops', async () => {
    await using proxy = await startRefusing()
    vi.stubEnv('HTTP_PROXY', proxy.url)
    try {
      await using job = await startJob()
      const agent = await job.running.client.call('agents.create', {
        name: 'Refused',
        executor: 'command',
        config: {
          command: 'curl -sS -m 5 http://model.test/v1; echo; echo "No luck."; exit 1',
          containment: 'worktree_and_hosts',
          allowed_hosts: ['model.test'],
        },
      })
      const started = Date.now()
      const task = await job.task()
      await job.claim(task, agent)
      const { error_annotation } = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
      expect(error_annotation).toMatchObject({
        type: 'usage_limit',
        message: expect.stringContaining('model.test answered 429.') as string,
      })
      const wait = Date.parse(error_annotation?.resets_at ?? '') - started
      expect(wait).toBeGreaterThanOrEqual(3_600_000)
      expect(wait).toBeLessThan(3_660_000)
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
