import { z } from 'zod'
import { LogSlice } from './executions.ts'
import type { ErrorCode } from './errors.ts'

/**
 * Who may call. `public`: anyone. `anyone`: every valid token. `human`: a person, no agent. `jwt`: a person signed in
 * with a password. `admin`: an admin. `admin_jwt`: an admin signed in with a password. `member`: a member of the
 * resource's project, or an agent at work in it. `task_worker`: a member, or the agent at work on this task or on one
 * above it. `member_human`: a member, no agent. `owner`: an owner of the resource's project or an admin. `daemon`:
 * the daemon itself, by its own token.
 */
export const callerRules = [
  'public',
  'anyone',
  'human',
  'jwt',
  'admin',
  'admin_jwt',
  'member',
  'task_worker',
  'member_human',
  'owner',
  'daemon',
] as const
export type CallerRule = (typeof callerRules)[number]

/** One row of the contract. `input` is flat: path parameters, then query (GET, DELETE) or body. */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Below `/api/v1`, with `{name}` for the keys of `input` that are path parameters. */
  readonly path: `/${string}`
  readonly summary: string
  readonly who: CallerRule
  readonly input: z.ZodObject
  /** Keys of `input` that may also be query parameters when the rest is a body. */
  readonly query?: readonly string[]
  readonly output: z.ZodType
  readonly status: 200 | 201 | 202 | 204
  /** The key of the output that is false if nothing was created: the status is then 200. */
  readonly unchanged?: string
  /**
   * The key of the output that is true if the work continues after the response, as `Prefer: respond-async` requests:
   * 202.
   */
  readonly deferred?: string
  readonly errors: readonly ErrorCode[]
  /**
   * `bytes`: REST returns a `LogSlice` as raw bytes with two headers; `file`: a `FileContent` with its own media
   * type.
   */
  readonly responds: 'json' | 'bytes' | 'file'
  /** Maximum size of the body, if it differs from the default. */
  readonly bodyBytes?: number
}

export function page({ most = 200 } = {}) {
  return { cursor: z.string().max(500).optional(), limit: z.int().min(1).max(most).default(50) }
}
export function slice() {
  return { offset: z.int().min(0).default(0), limit: z.int().min(1).max(4_194_304).default(1_048_576) }
}
export function list<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item) })
}
export function paginated<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() })
}

export function get<W extends CallerRule, I extends z.ZodObject, O extends z.ZodType>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'GET', path, who, summary, input, output, status: 200, errors, responds: 'json' } as const
}
export function read<I extends z.ZodObject>(path: `/${string}`, summary: string, input: I) {
  return {
    method: 'GET',
    path,
    who: 'member',
    summary,
    input,
    output: LogSlice,
    status: 200,
    errors: [],
    responds: 'bytes',
  } as const
}
export function post<
  W extends CallerRule,
  I extends z.ZodObject,
  O extends z.ZodType,
  S extends 200 | 201 | 202 | 204 = 200,
>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  status: S = 200 as S,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'POST', path, who, summary, input, output, status, errors, responds: 'json' } as const
}
export function patch<W extends CallerRule, I extends z.ZodObject, O extends z.ZodType>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'PATCH', path, who, summary, input, output, status: 200, errors, responds: 'json' } as const
}
export function put<W extends CallerRule, I extends z.ZodObject, O extends z.ZodType>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'PUT', path, who, summary, input, output, status: 200, errors, responds: 'json' } as const
}
export function del<W extends CallerRule, I extends z.ZodObject>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  errors: readonly ErrorCode[] = [],
) {
  return {
    method: 'DELETE',
    path,
    who,
    summary,
    input,
    output: z.null(),
    status: 204,
    errors,
    responds: 'json',
  } as const
}
