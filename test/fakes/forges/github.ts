import { createHash } from 'node:crypto'
import { createMemoryGit, type ForgeGit, type MemoryGit } from './forge-git.ts'
import {
  startForgeServer,
  type ForgeReply,
  type ForgeRequestSeen,
  type ForgeServer,
  type Mount,
} from './forge-server.ts'
import { badCredentials, tokenHeaders, tokenOf } from './github/access.ts'
import { failure } from './github/exchange.ts'
import { answerGraphql, type GraphqlRequest } from './github/graphql.ts'
import { createPeople } from './github/people.ts'
import { answerRest } from './github/rest.ts'
import type { FakePull, FakeRepository, FakeToken, Protection, Role } from './github/state.ts'
import { noProtection, type World } from './github/world.ts'

export interface GithubOptions {
  /** GitHub Enterprise Server: another path, and without what is newer in GraphQL. */
  readonly isEnterprise?: boolean
  /** What stands for real repositories; in memory without it. */
  readonly git?: ForgeGit
  readonly mount?: Mount
}

/** A server that speaks like GitHub, whose state is `world`, and where `people` do things. */
export interface FakeGithub extends ForgeServer {
  /** What `base_url` is set to. */
  readonly api: string
  readonly world: World
  readonly people: ReturnType<typeof createPeople>
  /** Branches in memory; of no use where `git` was given. */
  readonly git: MemoryGit
  /** The host of the logs. */
  readonly logs: ForgeServer
  readonly counts: Counts
  /** Makes the next requests that match `METHOD /path` fail so. */
  fail(match: RegExp, answer: ForgeReply, times?: number): void
  addRepository(fullName: string, more?: Partial<FakeRepository>): FakeRepository
  /** A classic token with `repo` and `workflow`. */
  addToken(secret: string, login: string, more?: Partial<FakeToken>): FakeToken
  addMember(repository: FakeRepository, login: string, role: Role): void
  protect(repository: FakeRepository, branch: string, protection: Partial<Protection>): void
  pull(repository: FakeRepository, number: number): FakePull
  rename(repository: FakeRepository, fullName: string): void
}

interface Counts {
  /** How often it answered 304. */
  notModified: number
  /** Requests left in this hour. */
  remaining: number
  /** Uses of fields of GraphQL that will go. */
  readonly deprecated: string[]
  /** What GraphQL refused as unknown or wrong, other than what this edition is too old for. */
  readonly invalid: string[]
}

interface Failure {
  readonly match: RegExp
  readonly answer: ForgeReply
  left: number
}

export async function startGithub({ isEnterprise = false, git, mount }: GithubOptions = {}): Promise<FakeGithub> {
  const failures: Failure[] = []
  const counts: Counts = { notModified: 0, remaining: 5_000, deprecated: [], invalid: [] }
  const server = await startForgeServer(async (request) => {
    const failing = failures.find(({ match, left }) => left > 0 && match.test(`${request.method} ${request.path}`))
    if (failing) failing.left--
    return unlessKnown(counts, request, failing?.answer ?? (await answer(world, counts, request)))
  }, mount)
  const logs = await startForgeServer(async (request) => answerLog(world, request))
  const memory = createMemoryGit()
  const world = createWorld(server.url, logs.url, git ?? memory, isEnterprise)
  const dispose = server[Symbol.asyncDispose]
  return Object.assign(server, {
    api: world.api,
    world,
    people: createPeople(world),
    git: memory,
    logs,
    counts,
    fail: (match: RegExp, failed: ForgeReply, times = 1) => {
      failures.push({ match, answer: failed, left: times })
    },
    addRepository: (fullName: string, more?: Partial<FakeRepository>) => {
      const added = addRepository(world, fullName, more)
      if (!git) memory.commit(fullName, added.default_branch)
      return added
    },
    addToken: (secret: string, login: string, more?: Partial<FakeToken>) => addToken(world, secret, login, more),
    addMember: ({ roles, associations }: FakeRepository, login: string, role: Role) => {
      roles.set(login, role)
      associations.set(login, 'COLLABORATOR')
    },
    protect: ({ protection }: FakeRepository, branch: string, more: Partial<Protection>) => {
      protection.set(branch, { ...noProtection(), ...more })
    },
    pull: ({ pulls }: FakeRepository, number: number) => {
      const pull = pulls.get(number)
      if (!pull) throw new Error(`There is no pull request ${number}.`)
      return pull
    },
    rename: (repository: FakeRepository, fullName: string) => {
      repository.former_names.push(repository.full_name)
      repository.full_name = fullName
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([dispose(), logs[Symbol.asyncDispose]()])
    },
  })
}

/** The greatest number of GraphQL's; GitHub's own ids are beyond it. */
const firstId = 2_200_000_000

function createWorld(web: string, blobs: string, git: ForgeGit, isEnterprise: boolean): World {
  let ids = firstId
  return {
    web,
    api: isEnterprise ? `${web}/api/v3` : web,
    blobs,
    git,
    isEnterprise,
    repositories: [],
    users: new Map(),
    tokens: new Map(),
    nextId: () => ++ids,
    time: () => new Date(Date.UTC(2026, 0, 1) + (ids++ - firstId) * 1_000).toISOString().replace('.000', ''),
  }
}

function addRepository(world: World, full_name: string, more: Partial<FakeRepository> = {}): FakeRepository {
  const owner = full_name.split('/')[0] ?? ''
  const repository: FakeRepository = {
    id: world.nextId(),
    full_name,
    former_names: [],
    git_name: full_name,
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

/** Adds what the limit says, and answers 304 for what the client has already. */
function unlessKnown(counts: Counts, request: ForgeRequestSeen, reply: ForgeReply): ForgeReply {
  const headers = {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': String(Math.max(0, counts.remaining)),
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000) + 1_800),
    ...reply.headers,
  }
  if (request.method !== 'GET' || reply.status !== 200) return { ...reply, headers }
  const etag = `W/"${createHash('sha256').update(JSON.stringify(reply.body)).digest('hex')}"`
  if (request.headers['if-none-match'] !== etag) return { ...reply, headers: { ...headers, etag } }
  counts.notModified++
  return { status: 304, headers: { ...headers, etag } }
}

async function answer(world: World, counts: Counts, request: ForgeRequestSeen): Promise<ForgeReply> {
  const token = tokenOf(world, request)
  if (!token) return badCredentials()
  if (counts.remaining <= 0) return failure(403, 'API rate limit exceeded for user ID 1.')
  counts.remaining--
  const graphql = world.isEnterprise ? '/api/graphql' : '/graphql'
  if (request.path === graphql && request.method === 'POST') {
    const { deprecated, invalid, ...answered } = await answerGraphql(world, token, request.body as GraphqlRequest)
    counts.deprecated.push(...deprecated)
    counts.invalid.push(...invalid)
    return { ...answered, headers: tokenHeaders(token, 'repo') }
  }
  const { headers, ...answered } = await answerRest(world, token, request)
  return { ...answered, headers: { ...tokenHeaders(token, 'repo'), ...headers } }
}

/** The host of the logs knows its signed addresses, and takes no token. */
function answerLog({ repositories }: World, { path, query, headers }: ForgeRequestSeen): ForgeReply {
  const id = Number(path.split('/').at(-1))
  const run = repositories.flatMap(({ checkRuns }) => checkRuns).find((one) => one.id === id)
  const isSigned = query['sig'] === 'signed' && headers.authorization === undefined
  return isSigned && run
    ? { status: 200, body: run.log ?? '' }
    : { status: 403, body: 'Server failed to authenticate the request.' }
}
