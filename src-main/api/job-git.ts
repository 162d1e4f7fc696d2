import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Arrivals, GitService, LfsObject } from '../ports/arrivals.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { JobAccess, JobGrant } from '../ports/job-access.ts'
import { toApiError } from './errors.ts'

/** A request of git to the repository of a job's task. */
interface JobGitCall {
  readonly job_id: string
  /** null: none was sent. */
  readonly token: string | null
  readonly service: GitService
}

/** What a runner's git asks: where a task's work elsewhere begins, and where it arrives. */
export interface JobGit {
  /** Returns git's first answer. Throws `ApiError` for a token that isn't this job's. */
  advertise(call: JobGitCall, options: Cancellable): Promise<Uint8Array>
  /** Returns the answer to a fetch or push, which reads its request; ending the iteration ends the work. */
  serve(call: JobGitCall, request: AsyncIterable<Uint8Array>, options: Cancellable): Promise<AsyncIterable<Uint8Array>>
  /** Returns an object of Git LFS that the job's work begins with. Throws `ApiError` (`not_found`) if there is none. */
  readLfs(call: LfsCall, options: Cancellable): Promise<LfsObject>
  /** Takes an object of Git LFS that the job has made. */
  writeLfs(call: LfsCall, content: AsyncIterable<Uint8Array>, options: Cancellable): Promise<void>
}

type LfsCall = Omit<JobGitCall, 'service'> & { readonly oid: string }

const lfsRefusals = {
  wrong: { code: 'validation_failed', message: 'These are not the bytes that the ID of the object names.' },
  too_large: { code: 'payload_too_large', message: 'This job has sent more than it may.' },
} as const

export function createJobGit({
  access,
  arrivals,
}: {
  readonly access: JobAccess
  readonly arrivals: Pick<Arrivals, 'advertise' | 'sendPack' | 'receivePack' | 'readLfs' | 'writeLfs'>
}): JobGit {
  const admit = async ({ job_id, token }: Omit<JobGitCall, 'service'>): Promise<JobGrant> => {
    if (token === null) throw new ApiError({ code: 'missing_token', message: 'Send the token of the job.' })
    const grant = await access.find(job_id, token)
    if (grant !== null) return grant
    throw new ApiError({ code: 'invalid_token', message: 'This is not the token of that job, or the job is over.' })
  }
  return {
    advertise: async (call, { signal }) => {
      const grant = await admit(call)
      return await arrivals.advertise(grant.task_id, call.service, { signal, grant }).catch((error: unknown) => {
        throw toApiError(error)
      })
    },
    serve: async (call, request, { signal }) => {
      const grant = await admit(call)
      const answer = call.service === 'git-upload-pack' ? arrivals.sendPack : arrivals.receivePack
      return explained(answer(grant.task_id, request, { signal, grant }))
    },
    readLfs: async (call, { signal }) => {
      const grant = await admit(call)
      const found = await arrivals.readLfs(grant.task_id, call.oid, { signal, grant }).catch((error: unknown) => {
        throw toApiError(error)
      })
      if (found !== null) return found
      throw new ApiError({ code: 'not_found', message: 'The job has no such object.', details: { resource: 'object' } })
    },
    writeLfs: async (call, content, { signal }) => {
      const grant = await admit(call)
      const { oid } = call
      const answer = await arrivals
        .writeLfs(grant.task_id, { oid, content }, { signal, grant })
        .catch((error: unknown) => {
          throw toApiError(error)
        })
      if (answer !== 'taken') throw new ApiError(lfsRefusals[answer])
    },
  }
}

/** Passes an answer on; a failure of the repository gets its code. */
async function* explained(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* answer
  } catch (error) {
    throw toApiError(error)
  }
}
