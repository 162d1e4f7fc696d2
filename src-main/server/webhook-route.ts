import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { AddressLimits } from './address-limits.ts'
import type { RouteParts } from './rest.ts'

/** Where forges tell that there is news, as the router writes it. */
export const webhookPath = '/hooks/:integration_id'

/** Forges cut their deliveries at more, but what is in them isn't read. */
const maxBytes = 1024 * 1024

/**
 * Adds the route of the forges' webhooks: no sign-in, but a secret by which every delivery is signed. The body is kept
 * as the bytes that came, whatever its type, and goes to the check of its signature alone.
 */
export function addWebhookRoute(
  app: FastifyInstance,
  { api, guard }: Pick<RouteParts, 'api' | 'guard'>,
  addresses: Pick<AddressLimits, 'failed'>,
): void {
  // Apart, so that no other route takes such a body.
  void app.register((scope, _options, registered) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => {
      parsed(null, body)
    })
    scope.post(webhookPath, {
      bodyLimit: maxBytes,
      onRequest: (request) => guard.admit(request, 'public'),
      handler: (request, reply) => {
        const { integration_id = '' } = request.params as { readonly integration_id?: string }
        try {
          api.webhook(integration_id, { headers: request.headers, body: bytesOf(request) })
        } catch (error) {
          if (error instanceof ApiError && error.status === 401) addresses.failed(request.ip)
          throw error
        }
        return reply.code(202).send()
      },
    })
    registered()
  })
}

const bytesOf = ({ body }: FastifyRequest): Uint8Array => (Buffer.isBuffer(body) ? body : new Uint8Array())
