import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { badCredentials, tokenHeaders, tokenOf } from './github/access.ts'
import { failure, type FakeAnswer, type SeenRequest } from './github/exchange.ts'
import { answerGraphql, type GraphqlRequest } from './github/graphql.ts'
import { createPeople } from './github/people.ts'
import { answerRest } from './github/rest.ts'
import type { FakePull, FakeRepository, FakeToken, GithubGit, Protection, Role } from './github/state.ts'
import { createMemoryGit, noProtection, type MemoryGit, type World } from './github/world.ts'

export interface GithubOptions {
  /** GitHub Enterprise Server: another path, and without what is newer in GraphQL. */
  readonly isEnterprise?: boolean
  /** Branches and merges; in memory without it. */
  readonly git?: GithubGit
}

/** Answers a request in place of the server; null leaves it to the server. */
export type Instead = (request: SeenRequest, nth: number) => FakeAnswer | null

export interface FakeGithub extends AsyncDisposable {
  /** What `base_url` is set to. */
  readonly url: string
  readonly world: World
  readonly people: ReturnType<typeof createPeople>
  /** Branches, where no other git was given. */
  readonly memory: MemoryGit
  readonly requests: SeenRequest[]
  /** What was asked of the host that keeps the logs. */
  readonly logRequests: SeenRequest[]
  /** How often it answered 304. */
  notModified: number
  /** Requests left in this hour. */
  remaining: number
  /** Uses of fields of GraphQL that will go. */
  readonly deprecated: string[]
  instead: Instead | null
  /** Makes the next requests that match fail so. */
  fail(match: RegExp, answer: FakeAnswer, times?: number): void
  addRepository(fullName: string, more?: Partial<FakeRepository>): FakeRepository
  /** A classic token with `repo` and `workflow`. */
  addToken(secret: string, login: string, more?: Partial<FakeToken>): FakeToken
  addMember(repository: FakeRepository, login: string, role: Role): void
  protect(repository: FakeRepository, branch: string, protection: Partial<Protection>): void
  pull(repository: FakeRepository, number: number): FakePull
  rename(repository: FakeRepository, fullName: string): void
}

interface Failure {
  readonly match: RegExp
  readonly answer: FakeAnswer
  left: number
}

export async function startGithub({ isEnterprise = false, git }: GithubOptions = {}): Promise<FakeGithub> {
  const failures: Failure[] = []
  const server = createServer((incoming, response) => {
    void respond(github, failures, incoming, response)
  })
  const logs = createServer((incoming, response) => {
    void respondLog(github, incoming, response)
  })
  const web = await listen(server)
  const memory = createMemoryGit()
  let ids = 2_200_000_000
  const world: World = {
    web,
    api: isEnterprise ? `${web}/api/v3` : web,
    blobs: await listen(logs),
    git: git ?? memory,
    isEnterprise,
    repositories: [],
    users: new Map(),
    tokens: new Map(),
    // Greater than GraphQL's numbers, as GitHub's own are.
    nextId: () => ++ids,
    time: () => new Date(Date.UTC(2026, 0, 1) + (ids++ - 2_200_000_000) * 1_000).toISOString().replace('.000', ''),
  }
  const github: FakeGithub = {
    url: world.api,
    world,
    people: createPeople(world),
    memory,
    requests: [],
    logRequests: [],
    notModified: 0,
    remaining: 5_000,
    deprecated: [],
    instead: null,
    fail: (match, answer, times = 1) => void failures.push({ match, answer, left: times }),
    addRepository: (fullName, more) => addRepository(world, fullName, more),
    addToken: (secret, login, more) => addToken(world, secret, login, more),
    addMember: ({ roles, associations }, login, role) => {
      roles.set(login, role)
      associations.set(login, 'COLLABORATOR')
    },
    protect: ({ protection }, branch, more) => void protection.set(branch, { ...noProtection(), ...more }),
    pull: ({ pulls }, number) => {
      const pull = pulls.get(number)
      if (!pull) throw new Error(`There is no pull request ${number}.`)
      return pull
    },
    rename: (repository, fullName) => {
      repository.former_names.push(repository.full_name)
      repository.full_name = fullName
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server, logs].map(close))
    },
  }
  return github
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

function addRepository(world: World, full_name: string, more: Partial<FakeRepository> = {}): FakeRepository {
  const owner = full_name.split('/')[0] ?? ''
  const repository: FakeRepository = {
    id: world.nextId(),
    full_name,
    former_names: [],
    private: true,
    archived: false,
    default_branch: 'main',
    allow_merge_commit: true,
    allow_squash_merge: true,
    allow_rebase_merge: true,
    allow_auto_merge: false,
    drafts: true,
    roles: new Map([[owner, 'admin']]),
    associations: new Map([[owner, 'OWNER']]),
    labels: new Set(),
    issues: new Map(),
    pulls: new Map(),
    checkRuns: [],
    runs: [],
    statuses: [],
    protection: new Map(),
    deleted: new Set(),
    ...more,
  }
  world.repositories.push(repository)
  return repository
}

function addToken(world: World, secret: string, login: string, more: Partial<FakeToken> = {}): FakeToken {
  const token: FakeToken = {
    login,
    scopes: ['repo', 'workflow'],
    permissions: {},
    repositories: null,
    expires: null,
    revoked: false,
    sso: null,
    ...more,
  }
  world.tokens.set(secret, token)
  return token
}

async function read(incoming: IncomingMessage): Promise<SeenRequest> {
  const url = new URL(incoming.url ?? '/', 'http://github')
  const sent = await readText(incoming)
  return {
    method: incoming.method ?? 'GET',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: incoming.headers,
    body: sent === '' ? null : (JSON.parse(sent) as unknown),
  }
}

async function respond(
  github: FakeGithub,
  failures: readonly Failure[],
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = await read(incoming)
  github.requests.push(request)
  const failing = failures.find(({ match, left }) => left > 0 && match.test(`${request.method} ${request.path}`))
  if (failing) failing.left--
  const instead = github.instead?.(request, github.requests.length) ?? failing?.answer ?? null
  send(github, request, response, instead ?? (await answer(github, request)))
}

function send(
  github: FakeGithub,
  request: SeenRequest,
  response: ServerResponse,
  { status, body, headers }: FakeAnswer,
) {
  const sent = body === undefined ? '' : JSON.stringify(body)
  const etag = `W/"${createHash('sha256').update(sent).digest('hex')}"`
  const limit = {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': String(Math.max(0, github.remaining)),
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000) + 1_800),
  }
  const all = { 'content-type': 'application/json; charset=utf-8', ...limit, ...headers }
  if (request.method === 'GET' && status === 200) {
    if (request.headers['if-none-match'] === etag) {
      github.notModified++
      response.writeHead(304, { etag, ...limit, ...headers })
      return void response.end()
    }
    response.writeHead(status, { ...all, etag })
  } else {
    response.writeHead(status, all)
  }
  response.end(sent)
}

async function answer(github: FakeGithub, request: SeenRequest): Promise<FakeAnswer> {
  const { world } = github
  const token = tokenOf(world, request)
  if (!token) return badCredentials()
  if (github.remaining <= 0) return failure(403, `API rate limit exceeded for user ID 1.`)
  github.remaining--
  const graphql = world.isEnterprise ? '/api/graphql' : '/graphql'
  if (request.path === graphql && request.method === 'POST') {
    const { deprecated, ...answered } = await answerGraphql(world, token, request.body as GraphqlRequest)
    github.deprecated.push(...deprecated)
    return { ...answered, headers: tokenHeaders(token, 'repo') }
  }
  const { headers, ...answered } = await answerRest(world, token, request)
  return { ...answered, headers: { ...tokenHeaders(token, 'repo'), ...headers } }
}

/** The host of the logs knows its signed addresses, and takes no token. */
async function respondLog(github: FakeGithub, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = await read(incoming)
  github.logRequests.push(request)
  const id = Number(request.path.split('/').at(-1))
  const run = github.world.repositories.flatMap(({ checkRuns }) => checkRuns).find((one) => one.id === id)
  const isSigned = request.query['sig'] === 'signed' && request.headers['authorization'] === undefined
  response.writeHead(isSigned && run ? 200 : 403, { 'content-type': 'text/plain' })
  response.end(isSigned ? (run?.log ?? '') : 'Server failed to authenticate the request.')
}
