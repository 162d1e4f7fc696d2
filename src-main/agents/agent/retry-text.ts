/** What an agent tells of a request that the model's server refused. */
export interface RefusedRequest {
  readonly error_status?: number | null | undefined
  readonly error?: string | null | undefined
  readonly attempt?: number | undefined
  readonly max_retries?: number | undefined
  readonly retry_delay_ms?: number | undefined
}

/** Describes a refused request that the agent repeats. */
export function retryText({ error_status, error, attempt, max_retries, retry_delay_ms = 0 }: RefusedRequest): string {
  const why = [error_status, error].filter((part) => part !== null && part !== undefined).join(' ')
  const wait = Math.round(retry_delay_ms / 1_000)
  return `The model server refused (${why || 'no answer'}); try ${attempt ?? '?'} of ${max_retries ?? '?'} follows in ${wait} s.`
}
