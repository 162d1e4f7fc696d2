import { ApiError, type ErrorCode } from '../../src-shared/contract/errors.ts'
import type { NeededTrust } from '../../src-shared/contract/runner-trust.ts'
import { ConnectionError } from '../../src-shared/client/http-transport.ts'

/** An error that a command reports itself. The message says what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: string
  /** 1: refused. 2: the command line is invalid. */
  readonly exitCode: 1 | 2

  constructor(code: string, message: string, options: ErrorOptions & { readonly exitCode?: 1 | 2 } = {}) {
    super(message, options)
    this.code = code
    this.exitCode = options.exitCode ?? 1
  }
}

/** Creates the error of an invalid command line: exit code 2. */
export function usageError(message: string): CliError {
  return new CliError('usage', message, { exitCode: 2 })
}

/** A command's failure as it is shown to people and programs. */
export interface Failure {
  readonly exitCode: 1 | 2
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Describes an error of a call to the service at `url`; null for a bug of the program itself. */
export function failureOf(error: unknown, url: string): Failure | null {
  if (error instanceof CliError) return { exitCode: error.exitCode, code: error.code, message: error.message }
  if (error instanceof ConnectionError) {
    return { exitCode: 1, code: error.code, message: connectionMessage(error, url) }
  }
  if (error instanceof ApiError) {
    const { code, details } = error
    // The refusal of a program of a run has details, and signing in doesn't help it.
    const isHelped = tokenProblems.includes(code) && details === undefined
    const message = isHelped ? `${error.message} ${signInHint}` : `${error.message}${trustText(error)}`
    return { exitCode: 1, code, message, ...(details && { details }) }
  }
  return fileFailure(error)
}

/** Returns what waits for an admin's trust, one per line, and the command that gives it. */
function trustText({ code, details }: ApiError): string {
  if (code !== 'runner_needs_trust') return ''
  const { runner_id, project_id, sha256, wants } = details as NeededTrust
  const lines = wants.map(({ kind, text }) => `  ${kind}: ${text}`)
  return ['', ...lines, `Trust it with \`svc runner trust ${runner_id} ${sha256} --project ${project_id}\`.`].join('\n')
}

const fileProblems: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'your quota of disk space is used up',
  EROFS: 'the device is read-only',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
}

/** Describes a file of the command line's own that could not be read or written; null for any other error. */
function fileFailure(error: unknown): Failure | null {
  const { code = '', path, syscall } = error as NodeJS.ErrnoException
  const problem = fileProblems[code]
  if (!(error instanceof Error) || problem === undefined || syscall === undefined) return null
  return { exitCode: 1, code: 'file_failed', message: `${path ?? 'A file'} can't be used: ${problem}.` }
}

/** Codes that advise to sign in; a wrong password or code during a sign-in must not. */
const tokenProblems: readonly ErrorCode[] = ['missing_token', 'invalid_token', 'token_expired']
const signInHint = 'Sign in with `svc login`, or set SVC_API_TOKEN.'

/** Describes why there was no answer. Only an unreachable service has a cause; otherwise something else answered. */
function connectionMessage(error: ConnectionError, url: string): string {
  if (error.cause === undefined) return `${error.message} The address is ${url}. Use another with --url.`
  return (
    `Can't reach Copse at ${url} (${reasonOf(error)}). Start it with \`svc serve\` or \`npm start\`, ` +
    'or set its address with --url or SVC_API_URL.'
  )
}

function reasonOf(error: unknown): string {
  let reason = 'no connection'
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && at.code !== 'connection_failed') reason = at.code
  }
  return reason
}
