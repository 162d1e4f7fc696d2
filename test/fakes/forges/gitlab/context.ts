import type { ForgeReply, ForgeRequestSeen } from '../forge-server.ts'
import { accessOf, type MergeRequest, type Project, type State } from './state.ts'

export interface Context {
  readonly state: State
  readonly request: ForgeRequestSeen
  /** The root of its pages. */
  readonly url: string
  readonly project: Project
  readonly username: string
  /** What the route's groups matched, without escapes. */
  readonly params: readonly string[]
}

export interface Route {
  readonly method: string
  /** Below the project. */
  readonly path: RegExp
  /** The role that it needs: 10 guest, 20 reporter, 30 developer. */
  readonly access: number
  readonly answer: (context: Context) => Promise<ForgeReply> | ForgeReply
}

export const failure = (status: number, message: unknown): ForgeReply => ({ status, body: { message } })

export const notFound = (what = 'Not Found'): ForgeReply => failure(404, `404 ${what}`)

/** Reads a field of the request's body, or of its query. */
export function field({ body, query }: ForgeRequestSeen, name: string): unknown {
  const sent = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined
  return sent ?? query[name]
}

export function text(request: ForgeRequestSeen, name: string): string {
  const value = field(request, name)
  return typeof value === 'string' ? value : ''
}

/** Answers a page; above 10,000 items it would tell no total. */
export function page({ url, request }: Context, items: readonly unknown[]): ForgeReply {
  const size = Math.min(Number(request.query['per_page'] ?? 20) || 20, 100)
  const at = Math.max(Number(request.query['page'] ?? 1) || 1, 1)
  const last = Math.max(1, Math.ceil(items.length / size))
  const link = (to: number, rel: string) =>
    `<${url}${request.path}?${new URLSearchParams({ ...request.query, page: String(to), per_page: String(size) }).toString()}>; rel="${rel}"`
  const links = [
    ...(at < last ? [link(at + 1, 'next')] : []),
    ...(at > 1 ? [link(at - 1, 'prev')] : []),
    link(1, 'first'),
    link(last, 'last'),
  ]
  return {
    status: 200,
    body: items.slice((at - 1) * size, at * size),
    headers: {
      link: links.join(', '),
      'x-total': String(items.length),
      'x-total-pages': String(last),
      'x-next-page': at < last ? String(at + 1) : '',
    },
  }
}

export const findMergeRequest = ({ project }: Context, iid: string): MergeRequest | undefined =>
  project.mergeRequests.find((each) => each.iid === Number(iid))

export const mayMerge = ({ project, username }: Context) => accessOf(project, username) >= 30
