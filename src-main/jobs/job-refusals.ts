import { ApiError } from '../../src-shared/contract/errors.ts'
import { jobProtocol } from '../../src-shared/contract/jobs.ts'

export const noSuchJob = (): ApiError =>
  new ApiError({ code: 'invalid_token', message: 'This token opens no such job.' })

export const noSuchFile = (): ApiError => new ApiError({ code: 'not_found', message: 'This job has no such file.' })

export const leaseLost = (): ApiError =>
  new ApiError({
    code: 'lease_lost',
    message: 'This job is no longer this runner’s. End it; what it holds may be pushed once to refs/svc/late.',
  })

export const runnerTaken = (): ApiError =>
  new ApiError({
    code: 'runner_taken',
    message: 'Another runner with this name is connected. End it, or give this one a token of its own.',
  })

export const offsetMismatch = (expected: number): ApiError =>
  new ApiError({ code: 'offset_mismatch', message: 'The log continues elsewhere.', details: { expected } })

export const tooLarge = (max_mb: number): ApiError =>
  new ApiError({ code: 'payload_too_large', message: `This job has sent more than ${max_mb} MB.` })

/** `logs`: how much of those that are too short has arrived. */
export const notArrived = (logs: Readonly<Record<string, number>>, refs: readonly string[]): ApiError =>
  new ApiError({
    code: 'not_arrived',
    message: 'Not all of it has arrived. Send what is missing, and finish again.',
    details: { logs, refs },
  })

export function checkProtocol(protocol: number): void {
  if (protocol !== jobProtocol)
    throw new ApiError({
      code: 'runner_version',
      message: `This runner speaks version ${protocol}; the service needs ${jobProtocol}.`,
    })
}
