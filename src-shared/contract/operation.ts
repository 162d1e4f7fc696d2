import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

/**
 * Who may call. `public`: anybody. `anyone`: every valid token. `human`: a person, no agent.
 * `jwt`: a person signed in with a password. `admin`: an admin. `member`: a member of the
 * resource's project, or an agent bound to it. `member_human`: the same without agents.
 * `owner`: an owner of the resource's project or an admin.
 */
export const callerRules = ['public', 'anyone', 'human', 'jwt', 'admin', 'member', 'member_human', 'owner'] as const
export type CallerRule = (typeof callerRules)[number]

/** One row of the contract. `input` is flat: path parameters, then query (GET, DELETE) or body. */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Below `/api/v1`, with `{name}` for the keys of `input` that are path parameters. */
  readonly path: `/${string}`
  readonly summary: string
  readonly who: CallerRule
  readonly input: z.ZodObject
  readonly output: z.ZodType
  readonly status: 200 | 201 | 204
  readonly errors: readonly ErrorCode[]
  /** `bytes`: REST answers a `LogSlice` as raw bytes with two headers. */
  readonly responds: 'json' | 'bytes'
}

/** The names of the path's parameters, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
}
