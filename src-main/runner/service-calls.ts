import { z } from 'zod'
import {
  JobBeatAnswer,
  JobSpec,
  RunnerAnswer,
  type JobAccept,
  type JobAsk,
  type JobBeat,
  type JobFinish,
  type JobOffer,
  type RunnerReport,
} from '../../src-shared/contract/jobs.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'
import type { Cancellable } from '../ports/cancellable.ts'

/** The service has refused; `code` is the contract's. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal'
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>>) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** The service can't be reached, or its answer did not arrive. */
export class NoContact extends Error {
  override readonly name = 'NoContact'
}

/** Returns whether the service says that a job is no longer this runner’s. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof ServiceRefusal && (error.code === 'lease_lost' || error.code === 'invalid_token')

/** The calls of one job. Each throws `ServiceRefusal` or `NoContact`. */
export interface JobCalls {
  accept(input: z.infer<typeof JobAccept>, options: Cancellable): Promise<JobSpec>
  file(n: number, options: Cancellable): Promise<Uint8Array>
  beat(input: z.infer<typeof JobBeat>, options: Cancellable): Promise<JobBeatAnswer>
  log(name: string, offset: number, bytes: Uint8Array, options: Cancellable): Promise<void>
  ask(input: z.infer<typeof JobAsk>, options: Cancellable): Promise<void>
  finish(input: JobFinish, options: Cancellable): Promise<void>
}

/** What a runner tells of itself when it asks for work; links need no more than `RunnerReport`. */
export interface OwnReport extends RunnerReport {
  readonly capacity?: number
  readonly hostname?: string
  readonly version?: string
}

export interface ServiceCalls {
  /** Where the service is, for what runs here. */
  url(): string
  report(input: OwnReport, options: Cancellable): Promise<RunnerAnswer>
  job(offer: JobOffer): JobCalls
}

/** How long an answer may take beyond what it was asked to wait, in milliseconds. */
const patienceMs = 30_000
/** A finish waits until all has been taken. */
const finishMs = 10 * 60_000

export interface ServiceAddress {
  readonly url: () => string
  readonly token: () => string
  /** Where a runner asks for work. */
  readonly reportPath?: '/runner/report' | '/daemons/self/report'
}

export function createServiceCalls({ url, token, reportPath = '/runner/report' }: ServiceAddress): ServiceCalls {
  const send = async (
    path: string,
    { as, body, method = 'POST', ms = patienceMs }: { as: string; body?: unknown; method?: string; ms?: number },
    { signal }: Cancellable,
  ): Promise<Response> => {
    const isBytes = body instanceof Uint8Array
    const type = isBytes ? 'application/octet-stream' : 'application/json'
    let response: Response
    try {
      response = await fetch(`${url()}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${as}`, ...(body !== undefined && { 'content-type': type }) },
        ...(body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
      })
      if (response.ok) return response
    } catch (error) {
      signal.throwIfAborted()
      throw new NoContact('The service can’t be reached.', { cause: error })
    }
    throw await refusalOf(response)
  }
  const read = async <T extends z.ZodType>(shape: T, sent: Promise<Response>): Promise<z.infer<T>> => {
    const response = await sent
    try {
      return shape.parse(await response.json())
    } catch (error) {
      throw new NoContact('The service’s answer did not arrive.', { cause: error })
    }
  }
  return {
    url,
    report: async (input, options) => {
      const ms = patienceMs + input.wait_seconds * 1_000
      for (;;) {
        const as = token()
        try {
          const sent = send(reportPath, { as, body: input, ms }, options)
          return await read(RunnerAnswer, sent)
        } catch (error) {
          // A call that waited for a link has the token of the one before, or none.
          if (!(error instanceof ServiceRefusal) || !error.code.endsWith('_token') || token() === as) throw error
        }
      }
    },
    job: ({ job_id, token: as, fence }) => {
      const path = `/jobs/${job_id}`
      return {
        accept: (body, options) => read(JobSpec, send(`${path}/accept`, { as, body }, options)),
        file: async (n, options) => {
          const response = await send(`${path}/files/${n}?fence=${fence}`, { as, method: 'GET' }, options)
          return new Uint8Array(
            await response.arrayBuffer().catch((error: unknown) => {
              throw new NoContact('A file did not arrive.', { cause: error })
            }),
          )
        },
        beat: (body, options) =>
          read(JobBeatAnswer, send(`${path}/beat`, { as, body, ms: patienceMs + body.wait_seconds * 1_000 }, options)),
        log: async (name, offset, bytes, options) => {
          await send(
            `${path}/logs/${name}?offset=${offset}&fence=${fence}`,
            { as, body: bytes, method: 'PUT' },
            options,
          )
        },
        ask: async (body, options) => void (await send(`${path}/ask`, { as, body }, options)),
        finish: async (body, options) => void (await send(`${path}/finish`, { as, body, ms: finishMs }, options)),
      }
    },
  }
}

async function refusalOf(response: Response): Promise<Error> {
  const known = z
    .object({
      error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
    })
    .safeParse(parseJson(await response.text().catch(() => '')))
  if (!known.success || response.status >= 500) return new NoContact(`The service answered ${response.status}.`)
  const { code, message, details = {} } = known.data.error
  return new ServiceRefusal(code, message, details)
}
