import { ApiError } from '../../src-shared/contract/errors.ts'
import type { RunningApp } from './running-app.ts'

/** The status of a request with a token (none if empty), and the code of its refusal. */
export async function ask(
  running: Pick<RunningApp, 'url'>,
  token: string,
  method: string,
  path: string,
  body?: object,
) {
  const headers = {
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json' }),
  }
  const response = await fetch(`${running.url}/api/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = (text === '' ? {} : JSON.parse(text)) as { error?: { code: string } }
  return [response.status, answer.error?.code ?? null] as const
}

/** Returns whether a token is valid. */
export const me = (running: Pick<RunningApp, 'url'>, token: string) => ask(running, token, 'GET', '/auth/me')

/** The refusal code of a call, or `done`. */
export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.code : error),
  )

/** Signs the first person of a running app in once more. */
export const login = (running: Pick<RunningApp, 'clientWith'>, password = 'correct horse') =>
  running.clientWith(null).call('auth.login', { email: 'owner@copse.test', password })
