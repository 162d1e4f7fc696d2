import { ContainmentUnavailable } from '../../src-main/ports/containment.ts'
import { ExecutorError } from '../../src-main/ports/executors.ts'
import { WorkspaceError } from '../../src-main/ports/workspace-error.ts'

/** Either end of a pipe between two processes: both can call what the other has passed. */
export interface CallPipe {
  /** Returns the other end's root, whose functions answer with promises. */
  readonly far: unknown
  receive(message: unknown): void
}

type Wire =
  | { readonly kind: 'call'; readonly call: number; readonly fn: number; readonly args: unknown }
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly call: number; readonly error: unknown }
  | { readonly kind: 'settled'; readonly promise: number; readonly value: unknown }
  | { readonly kind: 'aborted'; readonly signal: number; readonly reason: unknown }

interface Tagged {
  readonly $: 'fn' | 'promise' | 'signal' | 'error'
  readonly id: number
  readonly aborted?: boolean
  readonly error?: {
    readonly name: string
    readonly message: string
    readonly code?: unknown
    readonly command?: string
  }
}

/**
 * Passes functions, promises and abort signals of plain objects over a pipe. Function 0 is the root. A function's
 * answer is always a promise at the other end, and what it is called with arrives in order.
 */
export function createCallPipe(send: (message: Wire) => void, root: unknown): CallPipe {
  let last = 0
  const functions = new Map<number, (...args: unknown[]) => unknown>([[0, () => root]])
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  const promises = new Map<number, PromiseWithResolvers<unknown>>()
  const signals = new Map<number, AbortController>()

  const encode = (value: unknown): unknown => {
    if (typeof value === 'function') {
      const id = (last += 1)
      functions.set(id, value as (...args: unknown[]) => unknown)
      return { $: 'fn', id } satisfies Tagged
    }
    if (value instanceof Promise) {
      const id = (last += 1)
      void value.then(
        (done: unknown) => send({ kind: 'settled', promise: id, value: encode(done) }),
        () => undefined,
      )
      return { $: 'promise', id } satisfies Tagged
    }
    if (value instanceof AbortSignal) {
      const id = (last += 1)
      value.addEventListener('abort', () => send({ kind: 'aborted', signal: id, reason: encode(value.reason) }), {
        once: true,
      })
      return { $: 'signal', id, aborted: value.aborted } satisfies Tagged
    }
    if (value instanceof Error) {
      const { name, message, code, command } = value as Error & { code?: unknown; command?: string }
      return {
        $: 'error',
        id: 0,
        error: { name, message, code, ...(command !== undefined && { command }) },
      } satisfies Tagged
    }
    if (Array.isArray(value)) return value.map(encode)
    if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, encode(member)]))
  }

  const decode = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(decode)
    if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
    if (!isTagged(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, decode(member)]))
    switch (value.$) {
      case 'fn':
        return (...args: unknown[]) => call(value.id, args)
      case 'promise': {
        const promise = Promise.withResolvers<unknown>()
        promises.set(value.id, promise)
        return promise.promise
      }
      case 'signal': {
        const controller = new AbortController()
        signals.set(value.id, controller)
        if (value.aborted) controller.abort()
        return controller.signal
      }
      case 'error':
        return toError(value.error)
    }
  }

  const call = (fn: number, args: readonly unknown[]): Promise<unknown> => {
    const id = (last += 1)
    const answer = Promise.withResolvers<unknown>()
    calls.set(id, answer)
    send({ kind: 'call', call: id, fn, args: encode(args) })
    return answer.promise
  }

  const perform = async ({ call: id, fn, args }: Extract<Wire, { kind: 'call' }>): Promise<void> => {
    try {
      const value = await functions.get(fn)?.(...(decode(args) as unknown[]))
      send({ kind: 'answer', call: id, value: encode(value) })
    } catch (error) {
      send({ kind: 'error', call: id, error: encode(error) })
    }
  }

  return {
    far: call(0, []),
    receive: (message) => {
      const wire = message as Wire
      switch (wire.kind) {
        case 'call':
          void perform(wire)
          break
        case 'answer':
          calls.get(wire.call)?.resolve(decode(wire.value))
          break
        case 'error':
          calls.get(wire.call)?.reject(decode(wire.error))
          break
        case 'settled':
          promises.get(wire.promise)?.resolve(decode(wire.value))
          break
        case 'aborted':
          signals.get(wire.signal)?.abort(decode(wire.reason))
      }
    },
  }
}

const isTagged = (value: object): value is Tagged => '$' in value

function toError({ name, message, code, command }: NonNullable<Tagged['error']> = { name: '', message: '' }): Error {
  if (name === 'WorkspaceError')
    return new WorkspaceError(code as WorkspaceError['code'], message, command === undefined ? {} : { command })
  if (name === 'ExecutorError') return new ExecutorError(code as ExecutorError['code'], message)
  if (name === 'ContainmentUnavailable') return new ContainmentUnavailable(message)
  return Object.assign(new Error(message), { name, code })
}
