import type { CallReply, ReplyError } from '../../src-shared/contract/desktop.ts'
import { ApiError, internalError } from '../../src-shared/contract/errors.ts'
import { operations, type OperationName, type StreamName } from '../../src-shared/contract/operations.ts'
import type { Api, CallContext } from '../api/api.ts'
import type { Principal } from '../domain/access/principal.ts'

/** What the window's calls need. */
export interface CallHandlers {
  readonly api: Api
  /** Whoever sits at this machine, asked anew for every call: registering changes it. */
  localPrincipal(): Principal
  /** Told of errors that are no refusal; the page hears only that something went wrong. */
  onBug(error: unknown): void
}

/** Answers one call of the window as the other doors would. */
export async function answerCall(
  handlers: CallHandlers,
  name: unknown,
  input: unknown,
  signal: AbortSignal,
): Promise<CallReply> {
  try {
    return { ok: true, value: await handlers.api.call(known(operations, name), input, callContext(handlers, signal)) }
  } catch (error) {
    return { ok: false, error: replyError(error, handlers) }
  }
}

/** Who calls from the window, for as long as `signal` lets them. */
export function callContext(handlers: CallHandlers, signal: AbortSignal): CallContext {
  return { principal: handlers.localPrincipal(), signal, remote_address: null }
}

/** The name as one of the table's; throws `not_found` for any other. */
export function known<N extends OperationName | StreamName>(table: Readonly<Record<N, unknown>>, name: unknown): N {
  if (typeof name === 'string' && Object.hasOwn(table, name)) return name as N
  throw new ApiError({ code: 'not_found', message: `No operation ${JSON.stringify(name)}.` })
}

/** What the page may see of an error. What is a bug, or trouble with the disk, is told to the log. */
export function replyError(error: unknown, handlers: CallHandlers): ReplyError {
  if (!(error instanceof ApiError) || error.code === internalError.code) handlers.onBug(error)
  return (error instanceof ApiError ? error : new ApiError(internalError)).toBody().error
}
