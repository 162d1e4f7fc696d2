import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An issue as a tracker stores it. */
export interface FakeIssue {
  readonly number: number
  readonly title: unknown
  readonly body?: unknown
  readonly labels?: readonly string[]
  readonly state?: 'open' | 'closed'
  readonly isPullRequest?: boolean
  /** ISO 8601. */
  readonly updated_at?: string
}

export interface SeenRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void

/** A server that speaks like GitHub, Gitea and GitLab, with failures on demand. */
export interface FakeTracker extends AsyncDisposable {
  readonly url: string
  token: string
  /** `owner/repo` → its issues; may be changed at any time. */
  readonly repositories: Map<string, readonly FakeIssue[]>
  /** Old names, as `owner/repo`, and their redirects. */
  readonly renamed: Map<string, string>
  readonly requests: SeenRequest[]
  /** How often it answered so. */
  notModified: number
  /** Called first for every request; its result is the answer, `null` leaves that to the tracker. */
  instead: ((request: SeenRequest, nth: number) => Answer | null) | null
  /** Whether its pages name the next one by `Link`. */
  links: boolean
  /** The most issues on a page, whatever is asked for. */
  largestPage: number
  /** Whether it gives the first page whatever is asked for. */
  ignoresPage: boolean
  /** Added to every answer. */
  headers: Readonly<Record<string, string>>
}

/** Also below `/lab`, as a tracker that shares its host. */
const issuesPath =
  /^(?:\/lab)?(\/api\/v1|\/api\/v3|\/api\/v4)?\/(?:repos|projects)\/([^/]+\/[^/]+|[^/]+%2F[^/]+)\/issues$/

export async function startTracker(): Promise<FakeTracker> {
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://tracker')
    const request = { path: url.pathname, query: Object.fromEntries(url.searchParams), headers: incoming.headers }
    tracker.requests.push(request)
    const answer = tracker.instead?.(request, tracker.requests.length) ?? null
    if (answer) answer(response, request)
    else answerList(tracker, request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const tracker: FakeTracker = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'tracker-token-9f3b1c',
    repositories: new Map(),
    renamed: new Map(),
    requests: [],
    notModified: 0,
    instead: null,
    links: true,
    largestPage: Infinity,
    ignoresPage: false,
    headers: {},
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return tracker
}

/** Sends JSON. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    response.end(JSON.stringify(value))
  }
}

function answerList(tracker: FakeTracker, request: SeenRequest, response: ServerResponse): void {
  const parts = issuesPath.exec(request.path)
  const isGitea = parts?.[1] === '/api/v1'
  const isGitlab = parts?.[1] === '/api/v4'
  const send = (status: number, value: unknown, headers: Record<string, string> = {}) => {
    json(status, value, { ...tracker.headers, ...headers })(response, request)
  }
  const expected = isGitea ? `token ${tracker.token}` : `Bearer ${tracker.token}`
  if (request.headers.authorization !== expected) return send(401, { message: 'Bad credentials' })
  const name = decodeURIComponent(parts?.[2] ?? '')
  const target = tracker.renamed.get(name)
  if (target !== undefined) {
    const query = new URLSearchParams(request.query).toString()
    const path = request.path.replace(name, target)
    return send(301, { message: 'Moved Permanently' }, { location: `${tracker.url}${path}?${query}` })
  }
  const issues = tracker.repositories.get(name)
  if (!issues) return send(404, { message: 'Not Found' })
  const { query } = request
  const since = query[isGitlab ? 'updated_after' : 'since']
  const matching = issues.filter(
    ({ state = 'open', updated_at, isPullRequest }) =>
      (query['state'] ?? 'open') === (isGitlab && state === 'open' ? 'opened' : state) &&
      (since === undefined || updated_at === undefined || updated_at >= since) &&
      !(isGitlab && isPullRequest === true) &&
      !(isGitea && query['type'] === 'issues' && isPullRequest === true),
  )
  const size = Math.min(Number(query[isGitea ? 'limit' : 'per_page'] ?? 30), tracker.largestPage)
  const page = tracker.ignoresPage ? 1 : Number(query['page'] ?? 1)
  const pages = Math.max(1, Math.ceil(matching.length / size))
  const shown = matching
    .slice((page - 1) * size, page * size)
    .map((issue) => (isGitlab ? gitlabIssue(tracker, name, issue) : wire(tracker, name, issue, isGitea)))
  const etag = `"${createHash('sha1').update(JSON.stringify(shown)).digest('hex')}"`
  if (request.headers['if-none-match'] === etag) {
    tracker.notModified++
    response.writeHead(304, { etag, ...tracker.headers })
    return void response.end()
  }
  const to = (number: number, rel: string) =>
    `<${tracker.url}${request.path}?${new URLSearchParams({ ...query, page: String(number) }).toString()}>; rel="${rel}"`
  const link = tracker.links && page < pages ? { link: `${to(page + 1, 'next')}, ${to(pages, 'last')}` } : {}
  send(200, shown, {
    etag,
    ...link,
    ...(isGitea && { 'x-total-count': String(matching.length) }),
    ...(isGitlab && { 'x-total': String(matching.length), 'x-total-pages': String(pages) }),
  })
}

function wire(tracker: FakeTracker, name: string, issue: FakeIssue, isGitea: boolean): unknown {
  const { number, title, body = '', labels = [], state = 'open', updated_at, isPullRequest } = issue
  const pull_request = isPullRequest === true ? { url: `${tracker.url}/pulls/${number}` } : undefined
  return {
    id: number,
    number,
    title,
    body,
    labels: labels.map((label) => ({ name: label })),
    state,
    html_url: `${tracker.url}/${name}/issues/${number}`,
    ...(updated_at !== undefined && { updated_at }),
    ...(isGitea ? { pull_request: pull_request ?? null } : pull_request && { pull_request }),
  }
}

function gitlabIssue(tracker: FakeTracker, name: string, issue: FakeIssue): unknown {
  const { number, title, body = '', labels = [], state = 'open', updated_at } = issue
  return {
    id: 1_000_000 + number,
    iid: number,
    project_id: 1,
    title,
    description: body,
    labels,
    state: state === 'open' ? 'opened' : state,
    type: 'ISSUE',
    web_url: `${tracker.url}/${name}/-/issues/${number}`,
    ...(updated_at !== undefined && { updated_at }),
  }
}
