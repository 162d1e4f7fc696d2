import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { JobGit } from '../api/job-git.ts'
import type { AddressLimits } from './address-limits.ts'
import type { Guard } from './authenticate.ts'
import { toApiError } from './http-errors.ts'
import { liftDeadline } from './request-deadline.ts'
import { routeNotFound, validationFailed } from './refusals.ts'
import { apiPrefix } from './rest.ts'
import type { Logger } from '../platform/logging/log.ts'

interface GitRouteParts {
  readonly guard: Guard
  readonly addresses: Pick<AddressLimits, 'failed'>
  readonly log: Logger
}

type GitService = Parameters<JobGit['advertise']>[0]['service']

/** How long a client may send nothing of its request. */
const silenceMs = 60_000

/**
 * Adds the route by which the git of runners fetches and pushes: `{job_id}.git`, over HTTP as git speaks it, with the
 * job's token as Bearer or as the password of any user. Bodies of any size pass through as they come.
 */
export function addGitRoute(app: FastifyInstance, jobs: JobGit, { guard, addresses, log }: GitRouteParts): void {
  void app.register((scope, _options, registered) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => {
      parsed(null, payload)
    })
    scope.setErrorHandler((error, request, reply) => sendRefusal(error, request, reply, { addresses, log }))
    // The programs of runs here have no business with the token of a job.
    const onRequest = (request: FastifyRequest) => guard.admit(request, 'public', { runners: true })
    scope.get(`${apiPrefix}/git/:repository/info/refs`, {
      onRequest,
      handler: async (request, reply) => {
        const service = serviceOf((request.query as Readonly<Record<string, unknown>>)['service'])
        const call = { ...callOf(request), service }
        const answer = await jobs.advertise(call, { signal: endOf(request, reply) })
        return await reply.type(`application/x-${service}-advertisement`).send(Buffer.from(answer))
      },
    })
    const lfsPath = `${apiPrefix}/git/:repository/lfs/objects/:oid`
    scope.get(lfsPath, {
      onRequest,
      handler: async (request, reply) => {
        const { size, content } = await jobs.readLfs(lfsCallOf(request), { signal: endOf(request, reply) })
        void reply.type('application/octet-stream').header('content-length', size)
        return await reply.send(Readable.from(content, { objectMode: false }))
      },
    })
    scope.put(lfsPath, {
      onRequest,
      handler: async (request, reply) => {
        liftDeadline(request.raw)
        request.raw.socket.setTimeout(silenceMs)
        await jobs.writeLfs(lfsCallOf(request), bodyOf(request), { signal: endOf(request, reply) })
        return await reply.code(204).send()
      },
    })
    for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
      scope.post(`${apiPrefix}/git/:repository/${service}`, {
        onRequest,
        handler: async (request, reply) => {
          if (request.headers['content-type'] !== `application/x-${service}-request`)
            throw new ApiError({ code: 'unsupported_media_type', message: 'Only git speaks here.' })
          // A large push may take hours; a silent one is cut off.
          liftDeadline(request.raw)
          request.raw.socket.setTimeout(silenceMs)
          const call = { ...callOf(request), service }
          const signal = endOf(request, reply)
          const answer = await jobs.serve(call, bodyOf(request), { signal })
          return await reply.type(`application/x-${service}-result`).send(Readable.from(answer, { objectMode: false }))
        },
      })
    }
    registered()
  })
}

function serviceOf(name: unknown): GitService {
  if (name === 'git-upload-pack' || name === 'git-receive-pack') return name
  throw validationFailed('service', 'Use git over HTTP: service=git-upload-pack or service=git-receive-pack.')
}

function callOf(request: FastifyRequest): { readonly job_id: string; readonly token: string | null } {
  const { repository = '' } = request.params as { readonly repository?: string }
  if (!repository.endsWith('.git')) throw routeNotFound()
  return { job_id: repository.slice(0, -'.git'.length), token: tokenOf(request) }
}

function lfsCallOf(request: FastifyRequest) {
  const { oid = '' } = request.params as { readonly oid?: string }
  if (!/^[0-9a-f]{64}$/.test(oid)) throw routeNotFound()
  return { ...callOf(request), oid }
}

/** Returns the token as Bearer, or as the password of Basic, which git sends. */
function tokenOf({ headers }: FastifyRequest): string | null {
  const [scheme = '', value = ''] = (headers.authorization ?? '').split(' ', 2)
  if (scheme.toLowerCase() === 'bearer') return value === '' ? null : value
  if (scheme.toLowerCase() !== 'basic') return null
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return password === '' || !pair.includes(':') ? null : password
}

/** Returns the body as it was before git packed it. */
function bodyOf({ body, headers }: FastifyRequest): AsyncIterable<Uint8Array> {
  const stream = body instanceof Readable ? body : Readable.from([])
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return stream
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new ApiError({ code: 'unsupported_media_type', message: 'Send the body as it is, or as gzip.' })
  const plain = createGunzip()
  // A request that is cut off ends the unpacking too.
  stream.on('error', (error: Error) => plain.destroy(error))
  stream.on('close', () => {
    if (!stream.readableEnded) plain.destroy(new Error('The request ended before all of it was there.'))
  })
  return stream.pipe(plain)
}

/** Returns a signal that aborts once the client has gone. */
function endOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const end = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) end.abort(new Error('The client has gone.'))
  })
  request.raw.once('error', (error) => end.abort(error))
  return end.signal
}

/** Git shows people a plain text; other programs get the error as everywhere. */
async function sendRefusal(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { addresses, log }: Pick<GitRouteParts, 'addresses' | 'log'>,
) {
  const isCut = request.raw.destroyed && !request.raw.complete
  const refusal = isCut
    ? badRequest(cutOff)
    : isProtocolError(error)
      ? badRequest(error.message)
      : toApiError(error, log)
  if (refusal.status === 401) {
    void reply.header('www-authenticate', ['Basic realm="Copse job"', 'Bearer'])
    if (refusal.code === 'invalid_token') addresses.failed(request.ip)
  }
  const retryAfter = refusal.details?.['retry_after']
  if (typeof retryAfter === 'number') void reply.header('retry-after', String(retryAfter))
  // What is left of the body isn't read.
  if (!request.raw.complete) void reply.header('connection', 'close')
  const isGit = request.headers['user-agent']?.startsWith('git/') === true
  return await (isGit
    ? reply.code(refusal.status).type('text/plain; charset=utf-8').send(`${refusal.message}\n`)
    : reply.code(refusal.status).type('application/json; charset=utf-8').send(JSON.stringify(refusal.toBody())))
}

const cutOff = 'The request ended before all of it was there.'

const badRequest = (message: string): ApiError => new ApiError({ code: 'validation_failed', message })

const isProtocolError = (error: unknown): error is Error => error instanceof Error && error.name === 'GitProtocolError'
