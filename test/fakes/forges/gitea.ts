import {
  startForgeServer,
  type ForgeReply,
  type ForgeRequestSeen,
  type ForgeServer,
  type Mount,
} from './forge-server.ts'
import { createMemoryGit, type ForgeGit, type MemoryGit } from './forge-git.ts'
import { checkRoutes } from './gitea/check-routes.ts'
import { failure, notFound, type Context, type Route } from './gitea/context.ts'
import { issueRoutes } from './gitea/issue-routes.ts'
import { createPeople, type GiteaPeople } from './gitea/people.ts'
import { pullRoutes } from './gitea/pull-routes.ts'
import { reviewRoutes } from './gitea/review-routes.ts'
import { showRepository } from './gitea/show.ts'
import { isForgejo, rightOf, type Repository, type State } from './gitea/state.ts'

export interface GiteaOptions {
  /** As `/api/v1/version` says it: 1.26.2 without it; Forgejo's as `13.0.2+gitea-1.22.0`. */
  readonly version?: string
  /** What stands for real repositories; in memory without it. */
  readonly git?: ForgeGit
  readonly mount?: Mount
}

/** A server that speaks like Gitea or Forgejo, whose state is `state`, and where `people` do things. */
export interface GiteaServer extends ForgeServer {
  readonly state: State
  readonly people: GiteaPeople
  /** The token of `robot`, with all scopes. */
  readonly token: string
  /** Branches in memory; of no use where `git` was given. */
  readonly git: MemoryGit
  /** Returns a repository; makes it, with `robot` allowed to write, if there is none. */
  repository(fullName: string, forkOf?: string): Repository
}

const routes: readonly Route[] = [
  { method: 'GET', path: /^$/, scope: 'repository', answer: readRepository },
  ...pullRoutes,
  ...reviewRoutes,
  ...issueRoutes,
  ...checkRoutes,
]

export async function startGitea(options: GiteaOptions = {}): Promise<GiteaServer> {
  const memory = createMemoryGit()
  const token = 'gitea-token-51f0c2'
  const state: State = {
    version: options.version ?? '1.26.2',
    git: options.git ?? memory,
    tokens: new Map([[token, { login: 'robot', scopes: ['all'] }]]),
    repositories: new Map(),
    renamed: new Map(),
    draftPrefixes: ['WIP:', '[WIP]'],
    conflictTestReads: 1,
    rootUrl: null,
    last: 100,
  }
  const server = await startForgeServer(async (request) => answer(state, server.url, request), options.mount)
  const repository = (fullName: string, forkOf: string | null = null) => {
    const known = state.repositories.get(fullName.toLowerCase())
    if (known) return known
    const made = newRepository(fullName, forkOf)
    state.repositories.set(fullName.toLowerCase(), made)
    if (!options.git && !forkOf) memory.commit(fullName, 'main')
    return made
  }
  return Object.assign(server, { state, token, git: memory, repository, people: createPeople(state) })
}

function newRepository(fullName: string, forkOf: string | null): Repository {
  return {
    fullName,
    forkOf,
    archived: false,
    members: new Map([['robot', 'write']]),
    methods: { merge: true, squash: true, rebase: true, rebaseMerge: true, fastForward: false },
    defaultMethod: 'merge',
    labels: [],
    issues: [],
    statuses: [],
    jobs: [],
    protections: new Map(),
  }
}

async function answer(state: State, url: string, request: ForgeRequestSeen): Promise<ForgeReply> {
  const path = /^\/api\/v1(\/.*)$/.exec(request.path)?.[1]
  if (path === undefined) return { status: 404, body: 'Not Found' }
  if (path === '/version') return { status: 200, body: { version: state.version } }
  const sent = /^(?:token|Bearer) (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const token = state.tokens.get(sent)
  if (!token) return failure(401, 'invalid username, password or token')
  const [, owner = '', name = '', below = ''] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? []
  const found = routes.flatMap((route) => {
    const match = route.method === request.method ? route.path.exec(below) : null
    return match ? [{ route, params: match.slice(1) }] : []
  })[0]
  if (!found) return owner === '' ? notFound() : { status: 404, body: '404 page not found\n' }
  const missing = missingScope(state, found.route, request.method, token.scopes)
  if (missing) return missing
  const fullName = `${decodeURIComponent(owner)}/${decodeURIComponent(name)}`
  const now = state.renamed.get(fullName.toLowerCase())
  if (now !== undefined) return redirect(request, `${owner}/${name}`, now)
  const repository = state.repositories.get(fullName.toLowerCase())
  if (!repository || rightOf(repository, token.login) === 'none') return notFound()
  const context: Context = { state, request, url, repository, login: token.login, params: found.params }
  return found.route.answer(context)
}

function missingScope(state: State, { scope }: Route, method: string, scopes: readonly string[]): ForgeReply | null {
  const wanted = `${method === 'GET' ? 'read' : 'write'}:${scope}`
  if (['all', wanted, `write:${scope}`].some((each) => scopes.includes(each))) return null
  const text = 'token does not have at least one of required scope(s)'
  return failure(
    403,
    isForgejo(state) ? `${text}: [${wanted}]` : `${text}, required=[${wanted}], token scope=${scopes.join(',')}`,
  )
}

function redirect(request: ForgeRequestSeen, from: string, to: string): ForgeReply {
  const query = new URLSearchParams(request.query).toString()
  const location = `${request.path.replace(from, to)}${query === '' ? '' : `?${query}`}`
  return { status: 307, headers: { location } }
}

function readRepository({ url, repository, login }: Context): ForgeReply {
  return { status: 200, body: showRepository(url, repository, login) }
}
