import { ApiError } from '../../src-shared/contract/errors.ts'

/** The whole refusal of a call that must be refused. */
export async function refused(call: Promise<unknown>): Promise<ApiError> {
  const answer = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in answer && answer.error instanceof ApiError) return answer.error
  throw new Error(`The call was not refused: ${JSON.stringify(answer)}`, {
    cause: 'error' in answer ? answer.error : undefined,
  })
}

/** The code of a call that must be refused. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  return (await refused(call)).code
}
