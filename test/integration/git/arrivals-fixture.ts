import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createJobGit } from '../../../src-main/api/job-git.ts'
import { createArrivals } from '../../../src-main/git/create-arrivals.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import type { Arrivals } from '../../../src-main/ports/arrivals.ts'
import type { JobGrant } from '../../../src-main/ports/job-access.ts'
import { createServer } from '../../../src-main/server/create-server.ts'
import { openIdentity } from '../identity/open-identity.ts'
import { createSmallApi } from '../server/small-api.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'

const execute = promisify(execFile)
export const never = new AbortController().signal

/** A job as its access knows it. */
export interface TestJob {
  readonly id: string
  readonly token: string
  /** The address of its repository, with the token. */
  readonly url: string
  access: JobGrant['access']
  readonly end: AbortController
  max: number
  taken: number
}

export interface GitResult {
  readonly ok: boolean
  readonly out: string
  readonly err: string
}

/** Arrivals of one task behind a real server. */
export interface ArrivalsFixture extends AsyncDisposable {
  readonly repository: TestRepository
  readonly arrivals: Arrivals
  readonly dataDir: string
  readonly url: string
  readonly task: string
  readonly base: string
  /** The bare repository of the task. */
  readonly folder: string
  /** A commit on a branch of the project that no job may see, with a file that only it has. */
  readonly hidden: { readonly commit: string; readonly tree: string; readonly blob: string; readonly folder: string }
  job(id?: string): TestJob
  /** Runs git as a runner does; never throws. */
  git(
    args: readonly string[],
    options?: { cwd?: string; input?: string | Buffer; env?: NodeJS.ProcessEnv },
  ): Promise<GitResult>
  /** Clones the task's repository as a runner does; returns the folder. */
  clone(job: TestJob, name?: string): Promise<string>
  /** Refs, settings and objects of the project's repository. */
  projectState(): Promise<string>
  /** Refs of the task's repository. */
  refs(): Promise<Readonly<Record<string, string>>>
}

export async function createArrivalsFixture(
  options: { readonly dataDir?: string; readonly maxPacks?: number } = {},
): Promise<ArrivalsFixture> {
  const repository = await createTestRepository()
  const root = await mkdtemp(join(tmpdir(), 'copse-arrivals-'))
  const dataDir = options.dataDir ?? join(root, 'data')
  const base = await repository.git(['rev-parse', 'main'])
  await repository.git(['switch', '--quiet', '--create', 'secret'])
  await repository.commit('Secret', { 'vault/key.txt': `the key ${'x'.repeat(500)}\n` })
  const parse = (name: string) => repository.git(['rev-parse', name])
  const hidden = {
    commit: await parse('secret'),
    tree: await parse('secret^{tree}'),
    folder: await parse('secret:vault'),
    blob: await parse('secret:vault/key.txt'),
  }
  await repository.git(['switch', '--quiet', 'main'])
  const opened = await openIdentity()
  const arrivals = createArrivals({
    dataDir,
    clock: { now: () => Date.now() } as never,
    maxPacks: options.maxPacks ?? 50,
  })
  const task = 'task-1'
  await arrivals.open(
    task,
    { repo_path: repository.path, branch: 'copse/task-1', base_commit: base, branch_head: base },
    { signal: never },
  )
  const jobs = new Map<string, TestJob>()
  const server = createServer({
    api: createSmallApi(opened.identity),
    identity: opened.identity,
    jobGit: createJobGit({
      arrivals,
      access: {
        find: (id, token) => {
          const job = jobs.get(id)
          if (job?.token !== token) return Promise.resolve(null)
          return Promise.resolve({
            job_id: id,
            task_id: task,
            access: job.access,
            ended: job.end.signal,
            max_push_mb: job.max / 1024 / 1024,
            take: (bytes) => {
              job.taken += bytes
              return job.taken <= job.max
            },
          })
        },
      },
    }),
    config: { host: '127.0.0.1', port: 0, version: '1.2.3', webRoot: null },
    log: createLogger({ level: 'debug', stream: { write: () => undefined } }),
  })
  const url = await server.listen()
  const folder = join(dataDir, 'arrivals', `${task}.git`)

  const git: ArrivalsFixture['git'] = async (args, { cwd = root, input, env = {} } = {}) => {
    const child = spawn('git', [...args], {
      cwd,
      env: { ...process.env, ...testGitEnvironment, GIT_TERMINAL_PROMPT: '0', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
    const [code] = (await once(child, 'close')) as [number]
    return { ok: code === 0, out: Buffer.concat(out).toString().trimEnd(), err: Buffer.concat(err).toString() }
  }
  return {
    repository,
    arrivals,
    dataDir,
    url,
    task,
    base,
    folder,
    hidden,
    git,
    job: (id = 'job-1') => {
      const token = `token-of-${id}`
      const job: TestJob = {
        id,
        token,
        url: `${url.replace('http://', `http://any:${token}@`)}/api/v1/git/${id}.git`,
        access: 'work',
        end: new AbortController(),
        max: 1024 ** 3,
        taken: 0,
      }
      jobs.set(id, job)
      return job
    },
    clone: async (job, name = `clone-${job.id}`) => {
      const { ok, err } = await git(['clone', '--quiet', '--branch', 'copse/task-1', job.url, name])
      if (!ok) throw new Error(err)
      return join(root, name)
    },
    projectState: async () => {
      const common = join(repository.path, '.git')
      const refs = await repository.git(['for-each-ref', '--format=%(objectname) %(refname)'])
      const count = await repository.git(['count-objects', '-v'])
      const files = (await readdir(common)).toSorted().join(' ')
      return [refs, count, files, await readFile(join(common, 'config'), 'utf8')].join('\n')
    },
    refs: async () => {
      const { stdout } = await execute('git', [
        '--git-dir',
        folder,
        'for-each-ref',
        '--format=%(refname) %(objectname)',
      ])
      return Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split(' ') as [string, string]),
      )
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await opened[Symbol.asyncDispose]()
      await repository[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
