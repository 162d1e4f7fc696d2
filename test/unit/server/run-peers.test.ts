import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { createRunPeers, isOwnToken, runRefusal } from '../../../src-main/server/run-peers.ts'

const treeWith = (env: Readonly<Record<string, string>>) => ({ pid: 1, processMarker: 'mark', env })

it('looks once for each connection, until that closes', async () => {
  const looked: unknown[] = []
  const runs = createRunPeers((socket) => {
    looked.push(socket)
    return Promise.resolve(null)
  })
  const [one, other] = [new EventEmitter(), new EventEmitter()] as unknown as [Socket, Socket]
  expect([await runs.of(one), await runs.of(one), await runs.of(other)]).toEqual([null, null, null])
  expect(looked).toEqual([one, other])
  one.emit('close')
  await runs.of(one)
  expect(looked).toEqual([one, other, one])
})

it('knows a token that one of the trees was started with, and none for what has none', () => {
  const run = treeWith({ SVC_API_TOKEN: 'svc_own', SVC_AGENT_ID: 'a', SVC_EXECUTION_ID: 'e', SVC_TASK_ID: 't' })
  const check = treeWith({ SVC_AGENT_ID: 'a', SVC_EXECUTION_ID: 'e', SVC_TASK_ID: 't' })
  expect([isOwnToken([check, run], 'svc_own'), isOwnToken([run], 'svc_other')]).toEqual([true, false])
  expect([isOwnToken([check], ''), isOwnToken([], '')]).toEqual([false, false])
  const refusals = [[run], [check], []].map((trees) => runRefusal(trees, 'invalid_token'))
  expect(refusals).toEqual([
    { code: 'invalid_token', message: expect.stringContaining('SVC_API_TOKEN'), details: { execution_id: 'e' } },
    { code: 'invalid_token', message: expect.stringContaining('no access'), details: { execution_id: null } },
    { code: 'invalid_token', message: expect.stringContaining("couldn't tell"), details: { execution_id: null } },
  ])
})
