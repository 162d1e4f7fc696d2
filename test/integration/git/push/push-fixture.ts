import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGit, type GitOptions } from '../../../../src-main/git/create-git.ts'
import { createBranchPusher } from '../../../../src-main/git/create-branch-pusher.ts'
import { createGitParts } from '../../../../src-main/git/git-parts.ts'
import { PushError, type BranchPusher, type PushRequest } from '../../../../src-main/ports/branch-pusher.ts'
import { startGitHttpServer, type GitHttpServer } from '../../../fakes/git-http-server.ts'
import { createTestRepository, type TestRepository } from '../../../helpers/git-repository.ts'

export const token = 'forTheTestsOfPushing_0123456789'
export const variable = 'COPSE_TEST_FORGE_TOKEN'

export interface PushFixture extends AsyncDisposable {
  readonly server: GitHttpServer
  readonly repository: TestRepository
  readonly pusher: BranchPusher
  /** The bare repository at the server. */
  readonly name: string
  readonly url: string
  /** The first commit, on the server's `main`. */
  readonly first: string
  /** A commit on the branch `task`, which the server doesn't have. */
  readonly work: string
  /** Writes the user's own configuration of git. */
  configure(text: string): Promise<void>
  /** A push of `work` to `task` there, with the token. */
  request(change?: Partial<PushRequest>): PushRequest
  push(change?: Partial<PushRequest>, signal?: AbortSignal): ReturnType<BranchPusher['push']>
  /** A push that must fail; returns its error. */
  refusal(change?: Partial<PushRequest>): Promise<PushError>
  /** Puts a commit of somebody else on a branch of the server; returns it. */
  pushByOthers(branch: string, from: string): Promise<string>
  /** The files of the common git folder that are no git's. */
  leftFiles(): Promise<readonly string[]>
}

interface FixtureOptions extends Pick<GitOptions, 'trusted'> {
  readonly limits?: { readonly look_ms: number; readonly push_ms: number }
  readonly repository?: TestRepository
}

const never = new AbortController().signal

/** A repository with a task's branch, and its forge. */
export async function createPushFixture(options: FixtureOptions = {}): Promise<PushFixture> {
  const server = await startGitHttpServer()
  const repository = options.repository ?? (await createTestRepository())
  const userConfig = join(repository.beside, 'gitconfig')
  const before = { ...process.env }
  Object.assign(process.env, {
    GIT_CONFIG_GLOBAL: userConfig,
    GIT_CONFIG_SYSTEM: '/dev/null',
    HOME: repository.beside,
    [variable]: token,
  })
  await writeFile(userConfig, '')
  server.tokens.add(token)
  const name = 'acme/shop'
  const folder = await server.create(name)
  const url = `${server.url}/${name}.git`
  await repository.git(['push', '--quiet', folder, 'main'])
  const first = await repository.git(['rev-parse', 'main'])
  await repository.git(['switch', '--quiet', '--create', 'task'])
  const work = await repository.commit('Work', { 'work.txt': 'work\n' })
  await repository.git(['switch', '--quiet', 'main'])
  const pusher = options.limits
    ? createBranchPusher(createGitParts({}), options.limits)
    : createGit(options.trusted ? { trusted: options.trusted } : {}).pusher
  const request: PushFixture['request'] = (change = {}) => ({
    repo_path: repository.path,
    url,
    remote: null,
    credential: { variable, user: 'x-access-token', origin: server.url },
    branch: 'task',
    commit: work,
    remote_branch: 'task',
    force: null,
    ...change,
  })
  const push: PushFixture['push'] = (change, signal = never) => pusher.push(request(change), { signal })
  return {
    server,
    repository,
    pusher,
    name,
    url,
    first,
    work,
    request,
    push,
    configure: (text) => writeFile(userConfig, text),
    refusal: async (change) => {
      const error: unknown = await push(change).then(
        () => new Error('It was pushed.'),
        (reason: unknown) => reason,
      )
      if (error instanceof PushError) return error
      throw error
    },
    pushByOthers: async (branch, from) => {
      const tree = await server.git(name, ['rev-parse', `${from}^{tree}`])
      const author = ['-c', 'user.name=Other', '-c', 'user.email=other@copse.test']
      const commit = await server.git(name, [...author, 'commit-tree', tree, '-p', from, '-m', 'By others'])
      await server.git(name, ['update-ref', `refs/heads/${branch}`, commit])
      return commit
    },
    leftFiles: async () => {
      const entries = await readdir(join(repository.path, '.git'))
      return entries.filter((entry) => /copse|FETCH_HEAD|\.lock$/.test(entry))
    },
    [Symbol.asyncDispose]: async () => {
      for (const key of Object.keys(process.env)) if (!(key in before)) Reflect.deleteProperty(process.env, key)
      Object.assign(process.env, before)
      await server[Symbol.asyncDispose]()
      await repository[Symbol.asyncDispose]()
    },
  }
}

export { never }
