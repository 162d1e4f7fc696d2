import { extname } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const day = 24 * 60 * 60

/** Serves the built renderer. */
export function addWebRoutes(app: FastifyInstance, webRoot: string): void {
  void app.register(fastifyStatic, {
    root: webRoot,
    cacheControl: false,
    // The build lays them beside the files.
    preCompressed: true,
    setHeaders: (reply, path) => {
      // The build adds a content hash to names below assets/.
      const isHashed = /[\\/]assets[\\/]/.test(path.slice(webRoot.length))
      reply.header('cache-control', isHashed ? `public, max-age=${365 * day}, immutable` : 'no-cache')
    },
  })
}

/** Returns whether a path that is no file is a route of the page. */
export function isPagePath(request: Pick<FastifyRequest, 'method' | 'url'>): boolean {
  const path = request.url.split('?', 1)[0] ?? ''
  return (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/api/') && extname(path) === ''
}

/** Sends the page. */
export function sendPage(reply: FastifyReply): FastifyReply {
  return reply.sendFile('index.html')
}
