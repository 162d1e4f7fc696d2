import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Arrivals, GitService } from '../ports/arrivals.ts'
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
}

export function createJobGit({
  access,
  arrivals,
}: {
  readonly access: JobAccess
  readonly arrivals: Pick<Arrivals, 'advertise' | 'sendPack' | 'receivePack'>
}): JobGit {
  const admit = async ({ job_id, token }: JobGitCall): Promise<JobGrant> => {
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
