import type { CallReply, ReplyError } from '../../src-shared/contract/desktop.ts'
import { ApiError, internalError } from '../../src-shared/contract/errors.ts'
import { operations, type OperationName, type StreamName } from '../../src-shared/contract/operations.ts'
import type { Api, CallContext } from '../api/api.ts'
import type { Principal } from '../domain/access/principal.ts'

/** Dependencies of the window's calls. */
export interface CallHandlers {
  readonly api: Api
  /** Returns the local user; read at every call, because registering changes it. */
  localPrincipal(): Principal
  /** Called with errors that are no refusal; the page learns only that something went wrong. */
  onBug(error: unknown): void
}

/** Answers a call of the window as the HTTP API would. */
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

/** Returns the call context of the window's user until `signal` aborts. */
export function callContext(handlers: CallHandlers, signal: AbortSignal): CallContext {
  return { principal: handlers.localPrincipal(), signal, remote_address: null }
}

/** Returns the name as one of the table's; throws `not_found` for any other. */
export function known<N extends OperationName | StreamName>(table: Readonly<Record<N, unknown>>, name: unknown): N {
  if (typeof name === 'string' && Object.hasOwn(table, name)) return name as N
  throw new ApiError({ code: 'not_found', message: `No operation ${JSON.stringify(name)}.` })
}

/** Returns what the page may see of an error. Bugs and disk errors go to the log. */
export function replyError(error: unknown, handlers: CallHandlers): ReplyError {
  if (!(error instanceof ApiError) || error.code === internalError.code) handlers.onBug(error)
  return (error instanceof ApiError ? error : new ApiError(internalError)).toBody().error
}
