import { ApiError } from '../../src-shared/contract/errors.ts'
import { jobProtocol } from '../../src-shared/contract/jobs.ts'

export const leaseLost = (): ApiError =>
  new ApiError({
    code: 'lease_lost',
    message: 'This job is no longer this runner’s. End it; what it holds may be pushed once to refs/svc/late.',
  })

/** `expected`: how many bytes of the log have arrived. */
export const offsetMismatch = (expected: number): ApiError =>
  new ApiError({ code: 'offset_mismatch', message: 'The log continues elsewhere.', details: { expected } })

/** Throws if a runner speaks another version. */
export function checkProtocol(protocol: number): void {
  if (protocol !== jobProtocol)
    throw new ApiError({
      code: 'runner_version',
      message: `This runner speaks version ${protocol}; the service needs ${jobProtocol}.`,
    })
}
