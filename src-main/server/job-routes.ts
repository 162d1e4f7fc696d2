import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { JobAccept, JobAsk, JobBeat, JobFinish, JobLogName, RunnerReport } from '../../src-shared/contract/jobs.ts'
import type { JobApi, JobCall } from '../api/job-api.ts'
import type { AddressLimits } from './address-limits.ts'
import type { Guard } from './authenticate.ts'
import type { RunnerLinks } from './runner-links.ts'
import { readJson } from './read-json.ts'
import { liftDeadline } from './request-deadline.ts'
import { validationFailed } from './refusals.ts'
import { apiPrefix } from './rest.ts'

interface JobRouteParts {
  readonly guard: Guard
  readonly addresses: Pick<AddressLimits, 'failed'>
  readonly links: Pick<RunnerLinks, 'of'>
}

/** The largest piece of a log. */
const logBytes = 4 * 1024 * 1024
const fenceAndOffset = z.object({ fence: z.coerce.number().int(), offset: z.coerce.number().int().min(0).default(0) })

/** Adds the routes by which runners take jobs and tell what comes of them, with tokens that open nothing else. */
export function addJobRoutes(app: FastifyInstance, jobs: JobApi, { guard, addresses, links }: JobRouteParts): void {
  void app.register((scope, _options, registered) => {
    scope.removeAllContentTypeParsers()
    const parse = { parseAs: 'buffer', bodyLimit: logBytes } as const
    scope.addContentTypeParser('application/json', parse, async (_request: FastifyRequest, body: Buffer) =>
      readJson(body),
    )
    scope.addContentTypeParser(
      'application/octet-stream',
      parse,
      async (_request: FastifyRequest, body: Buffer) => body,
    )
    // The programs of runs here have no business with the tokens of jobs and runners.
    scope.addHook('onRequest', async (request) => {
      await guard.admit(request, 'public', { runners: true })
      liftDeadline(request.raw)
      const link = links.of(request.raw.socket)
      const { job_id } = request.params as { readonly job_id?: string }
      if (link !== null && job_id !== undefined && !jobs.isOf(job_id, link)) throw notItsJob()
    })
    scope.addHook('onError', async (request, _reply, error) => {
      if (error instanceof ApiError && error.code === 'invalid_token') addresses.failed(request.ip)
    })
    scope.post(`${apiPrefix}/runner/report`, async (request, reply) => {
      const seeker = jobs.seekerOf(bearerOf(request))
      const report = read(RunnerReport, request.body)
      const found = await jobs.next(seeker, report, { signal: endOf(reply) })
      return { jobs: found, ended: report.tasks.filter((task_id) => !jobs.hasWorktree(task_id)) }
    })
    const at = `${apiPrefix}/jobs/:job_id`
    scope.post(`${at}/accept`, (request, reply) =>
      jobs.accept(callOf(request), read(JobAccept, request.body), { signal: endOf(reply) }),
    )
    scope.post(`${at}/beat`, (request, reply) =>
      jobs.beat(callOf(request), read(JobBeat, request.body), { signal: endOf(reply) }),
    )
    scope.post(`${at}/ask`, async (request, reply) => {
      jobs.ask(callOf(request), read(JobAsk, request.body))
      return await reply.code(202).send({})
    })
    scope.post(`${at}/finish`, async (request, reply) => {
      await jobs.finish(callOf(request), read(JobFinish, request.body), { signal: endOf(reply) })
      return {}
    })
    scope.get(`${at}/files/:n`, async (request, reply) => {
      const { n } = read(z.object({ job_id: z.string(), n: z.coerce.number().int().min(0) }), request.params)
      const { fence } = read(fenceAndOffset, request.query)
      return await reply.type('application/octet-stream').send(Buffer.from(await jobs.file(callOf(request), n, fence)))
    })
    scope.put(`${at}/logs/:name`, async (request, reply) => {
      const { name } = read(z.object({ job_id: z.string(), name: JobLogName }), request.params)
      const { fence, offset } = read(fenceAndOffset, request.query)
      if (!Buffer.isBuffer(request.body)) throw validationFailed('body', 'Send the bytes as application/octet-stream.')
      await jobs.log(callOf(request), { name, offset, fence }, request.body)
      return await reply.code(204).send()
    })
    registered()
  })
}

function read<T extends z.ZodType>(shape: T, value: unknown): z.infer<T> {
  const found = shape.safeParse(value)
  if (found.success) return found.data
  const [issue] = found.error.issues
  throw validationFailed(issue?.path.join('.') ?? '', issue?.message ?? 'This is not what was expected.')
}

const notItsJob = (): ApiError => new ApiError({ code: 'invalid_token', message: 'This is a job of another runner.' })

const bearerOf = ({ headers }: FastifyRequest): string | null =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null

const callOf = (request: FastifyRequest): JobCall => ({
  job_id: (request.params as { readonly job_id: string }).job_id,
  token: bearerOf(request),
})

/** Returns a signal that aborts once the client has gone. */
function endOf(reply: FastifyReply): AbortSignal {
  const end = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) end.abort()
  })
  return end.signal
}
