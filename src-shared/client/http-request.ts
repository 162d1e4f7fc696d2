import { pathParameters } from '../contract/path-parameters.ts'
import type { Route } from './routes.ts'

type Values = Readonly<Record<string, unknown>>

/** What goes over the wire for one call. */
export interface HttpRequest {
  readonly method: string
  /** Path and query, from `/api/v1` on. */
  readonly target: string
  /** JSON; null sends none. */
  readonly body: string | null
}

/** Puts an operation's flat input into its path, then into the query (GET, DELETE) or the body. */
export function requestFor(spec: Pick<Route, 'method' | 'path'>, input: unknown): HttpRequest {
  const values = (input ?? {}) as Values
  const names = new Set(pathParameters(spec.path))
  const path = spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))
  const others = Object.entries(values).filter(([name, value]) => !names.has(name) && value !== undefined)
  const target = `/api/v1${path}`
  if (spec.method === 'GET' || spec.method === 'DELETE') {
    const query = queryOf(others)
    return { method: spec.method, target: query === '' ? target : `${target}?${query}`, body: null }
  }
  return { method: spec.method, target, body: JSON.stringify(Object.fromEntries(others)) }
}

function queryOf(entries: readonly (readonly [string, unknown])[]): string {
  return entries
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one: unknown) => [name, String(one)]))
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&')
}
