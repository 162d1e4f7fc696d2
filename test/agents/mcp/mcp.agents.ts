import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../../src-main/api/api.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createBrowserGuard } from '../../../src-main/server/browser-guard.ts'
import { addMcpRoute } from '../../../src-main/server/mcp/route.ts'
import { startJob } from '../../helpers/job.ts'
import { createFixtureServer } from './fixture-server.ts'
import { startTokenProxy } from './token-proxy.ts'
import { inspect, runConformance } from './tools.ts'

/**
 * Here the suite asks or notifies the client during a call, which an endpoint of independent requests does not
 * support.
 */
const needConnection = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'server-sse-polling',
  'resources-subscribe',
  'resources-unsubscribe',
]

/** These look for tools, resources and prompts with the suite's own names, which a product must not have. */
const needFixtures = [
  ...needConnection,
  'logging-set-level',
  'completion-complete',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
]

describe('the official conformance suite', () => {
  test('passes against the service, except for what needs fixtures', async () => {
    await using job = await startJob()
    await job.task()
    await using proxy = await startTokenProxy(job.running.url, job.running.token)
    const { code, stdout } = await runConformance(`${proxy.url}/api/v1/mcp`, needFixtures)
    expect(stdout).toContain('✓ resources-list')
    expect(code, stdout).toBe(0)
  })

  test('passes against the endpoint with its own fixtures, except for what needs a lasting connection', async () => {
    const app = Fastify()
    const guardBrowsers = createBrowserGuard('127.0.0.1', [])
    app.addHook('onRequest', async (request) => {
      guardBrowsers(request)
    })
    app.setErrorHandler((_error, _request, reply) => reply.code(403).send())
    const guard = {
      admit: () => Promise.resolve(),
      principalOf: () => ({ kind: 'operator' }) as const,
      recheck: () => Promise.resolve(),
      endings: () => 0,
    }
    const log = createLogger({ level: 'silent' })
    const parts = { api: {} as Api, guard, lifetime: new AbortController().signal }
    const mcp = addMcpRoute(app, parts, {
      version: '0',
      log,
      keepAliveMs: 15_000,
      stallMs: 30_000,
      createServer: createFixtureServer,
    })
    try {
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      const { code, stdout } = await runConformance(`${url}/api/v1/mcp`, needConnection)
      expect(code, stdout).toBe(0)
    } finally {
      await mcp.close()
      await app.close()
    }
  })
})

describe('the official inspector', () => {
  test('finds no fault in the schemas, calls tools and reads resources', async () => {
    await using job = await startJob()
    const task = await job.task({ title: 'Inspect me' })
    const { url, token } = job.running
    const ask = async (...args: readonly string[]) => {
      const target = [`${url}/api/v1/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`]
      return inspect([...target, ...args])
    }
    const listed = await ask('--method', 'tools/list', '--strict')
    expect(listed.code, listed.stderr).toBe(0)
    expect(JSON.parse(listed.stdout)).toHaveProperty('tools.11')
    const got = await ask('--method', 'tools/call', '--tool-name', 'svc_get_task', '--tool-arg', `task_id=${task.id}`)
    expect(JSON.parse(got.stdout)).toMatchObject({ structuredContent: { id: task.id, title: 'Inspect me' } })
    const read = await ask('--method', 'resources/read', '--uri', `copse://tasks/${task.id}`)
    expect(read.stdout).toContain('Inspect me')
    const templates = await ask('--method', 'resources/templates/list')
    expect(JSON.parse(templates.stdout)).toHaveProperty('resourceTemplates.1')
    // 5: the tool reported an error.
    const refused = await ask('--method', 'tools/call', '--tool-name', 'svc_heartbeat')
    expect([refused.code, refused.stdout]).toEqual([5, expect.stringContaining('validation_failed')])
    const stranger = await inspect([
      `${url}/api/v1/mcp?token=svc_wrong`,
      '--transport',
      'http',
      '--method',
      'tools/list',
    ])
    expect(stranger.code, stranger.stdout).not.toBe(0)
  })
})
