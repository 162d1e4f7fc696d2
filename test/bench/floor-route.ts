import Fastify from 'fastify'
import { serveParent } from './child.ts'

/** The floor of requests per second: a bare Fastify route that answers this body as JSON; no token, no rights, no database. */
export type FloorRouteRequest = { readonly path: string; readonly body: unknown }

serveParent<FloorRouteRequest, string>(async ({ path, body }) => {
  const app = Fastify()
  app.get(path, (_request, reply) => reply.send(body))
  return app.listen({ host: '127.0.0.1', port: 0 })
})
