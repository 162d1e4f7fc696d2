import { createHash } from 'node:crypto'
import { createMemoryGit, type ForgeGit, type MemoryGit } from './forge-git.ts'
import {
  startForgeServer,
  type ForgeReply,
  type ForgeRequestSeen,
  type ForgeServer,
  type Mount,
} from './forge-server.ts'
import { ciRoutes } from './gitlab/ci-routes.ts'
import { failure, notFound, type Context, type Route } from './gitlab/context.ts'
import { discussionRoutes } from './gitlab/discussion-routes.ts'
import { mergeRequestRoutes } from './gitlab/merge-request-routes.ts'
import { createPeople, type GitlabPeople } from './gitlab/people.ts'
import { showProject, showUser } from './gitlab/show.ts'
import { accessOf, nextId, userOf, type Project, type State, type Token } from './gitlab/state.ts'

export interface GitlabOptions {
  /** What stands for real repositories; in memory without it. */
  readonly git?: ForgeGit
  readonly mount?: Mount
}

/** A server that speaks like GitLab, whose state is `state`, and where `people` do things. */
export interface GitlabServer extends ForgeServer {
  readonly state: State
  readonly people: GitlabPeople
  /** The token of `robot`, with the scope `api`. */
  readonly token: string
  /** Branches in memory; of no use where `git` was given. */
  readonly git: MemoryGit
  /** Returns a project; makes it, with `robot` as a developer, if there is none. */
  project(path: string, forkOf?: Project): Project
}

const routes: readonly Route[] = [
  { method: 'GET', path: /^$/, access: 10, answer: readProject },
  ...mergeRequestRoutes,
  ...discussionRoutes,
  ...ciRoutes,
]

export async function startGitlab(options: GitlabOptions = {}): Promise<GitlabServer> {
  const memory = createMemoryGit()
  const token = 'glpat-9c41ZetaQ0'
  const state: State = {
    git: options.git ?? memory,
    users: [],
    tokens: new Map([[token, { username: 'robot', scopes: ['api'], expires_at: '2026-12-01', isExpired: false }]]),
    projects: [],
    moved: new Map(),
    commands: [],
    conflictTestReads: 1,
    remaining: null,
    notModified: 0,
    last: 100,
  }
  const server = await startForgeServer(async (request) => answer(state, server.url, request), options.mount)
  const project = (path: string, forkOf?: Project) => {
    const known = state.projects.find((each) => each.path === path)
    if (known) return known
    const made = newProject(nextId(state), path, forkOf?.id ?? null)
    state.projects.push(made)
    if (!options.git && !forkOf) memory.commit(path, 'main')
    return made
  }
  return Object.assign(server, { state, token, git: memory, project, people: createPeople(state) })
}

function newProject(id: number, path: string, forkOf: number | null): Project {
  return {
    id,
    path,
    forkOf,
    archived: false,
    members: new Map([['robot', 30]]),
    mergeMethod: 'merge',
    squashOption: 'default_off',
    mustSucceed: false,
    mustResolve: false,
    approvalsRequired: 0,
    trains: null,
    issues: [],
    mergeRequests: [],
    pipelines: [],
    jobs: [],
    statuses: [],
  }
}

/** Adds what its framework does: limits, and ETags of whatever it answers. */
async function answer(state: State, url: string, request: ForgeRequestSeen): Promise<ForgeReply> {
  const limits = limitsOf(state)
  if (state.remaining !== null && --state.remaining < 0) {
    return { status: 429, body: 'Retry later\n', headers: { ...limits, 'retry-after': '30' } }
  }
  const reply = await route(state, url, request)
  if (request.method !== 'GET' || reply.status !== 200) return { ...reply, headers: { ...reply.headers, ...limits } }
  const etag = `W/"${createHash('md5').update(JSON.stringify(reply.body)).digest('hex')}"`
  if (request.headers['if-none-match'] === etag) {
    state.notModified += 1
    return { status: 304, headers: { etag, ...limits } }
  }
  return { ...reply, headers: { ...reply.headers, ...limits, etag } }
}

function limitsOf({ remaining }: State): Record<string, string> {
  if (remaining === null) return {}
  const reset = String(Math.floor(Date.now() / 1_000) + 30)
  return {
    'ratelimit-remaining': String(Math.max(remaining - 1, 0)),
    'ratelimit-reset': reset,
    'ratelimit-limit': '2000',
  }
}

async function route(state: State, url: string, request: ForgeRequestSeen): Promise<ForgeReply> {
  const path = /^\/api\/v4(\/.*)$/.exec(request.path)?.[1]
  if (path === undefined) return { status: 404, body: '<html>Not Found</html>' }
  const sent = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const token = state.tokens.get(sent)
  if (!token) return failure(401, '401 Unauthorized')
  if (token.isExpired) return expired()
  if (path === '/personal_access_tokens/self') return readToken(token)
  const refused = missingScope(request.method, token)
  if (refused) return refused
  if (path === '/users') return readUsers(state, request)
  const [, id = '', below = ''] = /^\/projects\/([^/]+)(\/.*)?$/.exec(path) ?? []
  const found = routes.flatMap((each) => {
    const match = each.method === request.method ? each.path.exec(below) : null
    return match ? [{ each, params: match.slice(1).map(decodeURIComponent) }] : []
  })[0]
  if (id === '' || !found) return { status: 404, body: { error: '404 Not Found' } }
  const name = decodeURIComponent(id)
  const movedTo = state.moved.get(name.toLowerCase())
  if (movedTo !== undefined) return moved(request, id, movedTo)
  const project = state.projects.find(
    (each) => String(each.id) === name || each.path.toLowerCase() === name.toLowerCase(),
  )
  const access = project ? accessOf(project, token.username) : 0
  if (!project || access === 0) return notFound('Project Not Found')
  if (access < found.each.access || (project.archived && request.method !== 'GET')) return failure(403, '403 Forbidden')
  const context: Context = { state, request, url, project, username: token.username, params: found.params }
  return found.each.answer(context)
}

const expired = (): ForgeReply => ({
  status: 401,
  body: {
    error: 'invalid_token',
    error_description: 'Token is expired. You can either do re-authorization or token refresh.',
  },
})

function missingScope(method: string, { scopes }: Token): ForgeReply | null {
  const wanted = method === 'GET' ? ['api', 'read_api'] : ['api']
  if (wanted.some((scope) => scopes.includes(scope))) return null
  return {
    status: 403,
    body: {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: wanted.join(' '),
    },
  }
}

function readToken({ scopes, expires_at }: Token): ForgeReply {
  return { status: 200, body: { id: 1, name: 'copse', revoked: false, active: true, scopes, expires_at } }
}

function readUsers(state: State, { query }: ForgeRequestSeen): ForgeReply {
  const users = state.users.filter(({ username }) => username.toLowerCase() === query['username']?.toLowerCase())
  return { status: 200, body: users.map(({ username }) => showUser(state, username)) }
}

/** A moved project is found by reading only. */
function moved(request: ForgeRequestSeen, from: string, id: number): ForgeReply {
  if (request.method !== 'GET') return failure(405, '405 Non GET methods are not allowed for moved projects')
  const query = new URLSearchParams(request.query).toString()
  const location = `${request.path.replace(`/projects/${from}`, `/projects/${id}`)}${query === '' ? '' : `?${query}`}`
  return { status: 301, headers: { location } }
}

function readProject({ url, project, username, state }: Context): ForgeReply {
  userOf(state, username)
  return { status: 200, body: showProject(url, project, username) }
}
