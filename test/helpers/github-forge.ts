import type { ForgeError, Forges, ForgeSource, NewPull, Pull } from '../../src-main/ports/forges.ts'
import { createForges } from '../../src-main/integrations/forges/create-forges.ts'
import type { ForgeRequestsOptions } from '../../src-main/integrations/forges/forge-requests.ts'
import { startGithub, type FakeGithub, type GithubOptions } from '../fakes/forges/github.ts'
import type { FakePull, FakeRepository, FakeToken } from '../fakes/forges/github/state.ts'

export const secret = 'ghp_Zq81nV4yTokenThatIsNeverShown'

/** A repository `octo/hello` at a scripted GitHub, and what asks it. */
export interface GithubForge extends AsyncDisposable {
  readonly github: FakeGithub
  readonly repository: FakeRepository
  readonly token: FakeToken
  readonly forges: Forges
  readonly source: ForgeSource
  readonly options: { readonly signal: AbortSignal }
  /** Sets the clock forward. */
  later(ms: number): void
  newPull(more?: Partial<NewPull>): NewPull
  /** Opens a pull request from a branch with a commit of its own. */
  open(branch?: string): Promise<{ readonly pull: Pull; readonly there: FakePull }>
}

interface Setup extends GithubOptions {
  readonly token?: Partial<FakeToken>
  readonly repository?: Partial<FakeRepository>
  readonly requests?: Partial<ForgeRequestsOptions>
}

/** A fine-grained token with all that it can be given. */
export const fineGrained: Partial<FakeToken> = {
  scopes: null,
  permissions: {
    metadata: 'read',
    contents: 'write',
    pull_requests: 'write',
    issues: 'write',
    statuses: 'read',
    actions: 'write',
  },
  expires: '2026-12-01 10:00:00 +0200',
}

export async function startGithubForge(setup: Setup = {}): Promise<GithubForge> {
  const github = await startGithub(setup)
  const repository = github.addRepository('octo/hello', setup.repository)
  const token = github.addToken(secret, 'octo', setup.token)
  let ahead = 0
  const forges = createForges({
    env: { TOKEN: secret },
    clock: { now: () => Date.now() + ahead },
    version: '1.2.3',
    write_gap_ms: 0,
    ...setup.requests,
  })
  const source: ForgeSource = {
    platform: 'hosted',
    base_url: github.api,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: 'TOKEN',
  }
  const options = { signal: new AbortController().signal }
  const newPull = (more: Partial<NewPull> = {}): NewPull => ({
    title: 'Add a greeting',
    body: 'It greets.',
    head: { repository: 'octo/hello', branch: 'greet' },
    target: 'main',
    draft: false,
    labels: [],
    reviewers: [],
    ...more,
  })
  return {
    github,
    repository,
    token,
    forges,
    source,
    options,
    later: (ms) => void (ahead += ms),
    newPull,
    open: async (branch = 'greet') => {
      github.git.commit('octo/hello', branch, 'main')
      const pull = await forges.open(source, newPull({ head: { repository: 'octo/hello', branch } }), options)
      return { pull, there: github.pull(repository, pull.number) }
    },
    [Symbol.asyncDispose]: async () => {
      await github[Symbol.asyncDispose]()
      // A fault of the server itself, not of what asked it.
      if (github.failures.length > 0) throw new Error('The server failed.', { cause: github.failures[0] })
    },
  }
}

/** Returns the error of a call that is refused. */
export async function errorOf(call: Promise<unknown>): Promise<ForgeError> {
  return call.then(
    () => {
      throw new Error('It was answered.')
    },
    (error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'ForgeError') throw error
      return error as ForgeError
    },
  )
}
