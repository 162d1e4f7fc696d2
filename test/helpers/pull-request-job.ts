import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { PullRequest, PullRequestSettings } from '../../src-shared/contract/pull-requests.ts'
import { PullRequestSettings as SettingsShape } from '../../src-shared/contract/pull-requests.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { ForgeGit } from '../fakes/forges/forge-git.ts'
import type { Mount } from '../fakes/forges/forge-server.ts'
import { startGitea, type GiteaServer } from '../fakes/forges/gitea.ts'
import { createGitHosting, type GitHosting } from '../fakes/git-http-server.ts'
import { startAnyForge, type AnyForge, type ForgeKind } from './any-forge.ts'
import { bareForgeGit } from './bare-forge-git.ts'
import { startJob, type Job } from './job.ts'
import { projectRoot } from './project-root.ts'

export const repository = 'octo/hello'

/** A project whose repository lies at a scripted forge, with real git below it, and the workflow for pull requests. */
export interface ForgeJob extends AsyncDisposable {
  readonly job: Job
  readonly git: GitHosting
  /** Name of the variable that holds the token. */
  readonly secret: string
  /** Changes the settings of pull requests, the others being the defaults. */
  configure(
    settings: OperationInput<'integrations.update'>['pull_requests'],
    more?: Partial<OperationInput<'integrations.update'>>,
  ): Promise<void>
  /** A task whose agent ran this command, at its gate. */
  atGate(command: string, more?: Partial<OperationInput<'tasks.create'>>): Promise<Task>
  get(task: Task): Promise<PullRequest>
  sync(task: Task): Promise<PullRequest>
}

export interface PullRequestJob extends ForgeJob {
  readonly forge: GiteaServer
}

/** The same at a forge of any kind. */
export interface AnyForgeJob extends ForgeJob {
  readonly forge: AnyForge
}

let counter = 0

type Settings = Partial<PullRequestSettings>
interface Options extends NonNullable<Parameters<typeof startJob>[0]> {
  /** It polls as often as a project that sets nothing; without it the test alone asks the forge. */
  readonly pollsByDefault?: boolean
}

/** Starts it at a Gitea of the newest version. */
export async function startPullRequestJob(settings: Settings = {}, options: Options = {}): Promise<PullRequestJob> {
  return await startAt(settings, options, async (parts) => {
    const forge = await startGitea(parts)
    forge.repository(repository)
    const { url, token } = forge
    return { forge, url, token, platform: 'selfhosted', base_url: url }
  })
}

export async function startAnyForgeJob(
  kind: ForgeKind,
  settings: Settings = {},
  options: Options = {},
): Promise<AnyForgeJob> {
  return await startAt(settings, options, async (parts) => {
    const forge = await startAnyForge(kind, repository, parts)
    const { platform, base_url, token, server } = forge
    return { forge, url: server.url, token, platform, base_url }
  })
}

interface Started<F> extends Pick<AnyForge, 'platform' | 'base_url' | 'token'> {
  readonly forge: F
  readonly url: string
}

async function startAt<F extends AsyncDisposable>(
  settings: Settings,
  { pollsByDefault = false, ...options }: Options,
  start: (parts: { readonly git: ForgeGit; readonly mount: Mount }) => Promise<Started<F>>,
): Promise<ForgeJob & { readonly forge: F }> {
  await using opened = new AsyncDisposableStack()
  const git = opened.use(await createGitHosting())
  const mount: Mount = (request, response) => request.url?.includes('.git/') === true && git.handle(request, response)
  const { forge, url, token, platform, base_url } = await start({ git: bareForgeGit(git), mount })
  opened.use(forge)
  const template = parse(await readFile(join(projectRoot, 'workflows/pull-request.yaml'), 'utf8')) as object
  const job = opened.use(await startJob({ workflow: () => template, ...options }))
  await git.create(repository)
  git.tokens.add(token)
  const secret = `SVC_SECRET_FORGE_${process.pid}_${++counter}`
  process.env[secret] = token
  opened.defer(() => {
    Reflect.deleteProperty(process.env, secret)
  })
  // The first commits come from the person's own clone.
  await job.repository.git(['push', '--quiet', join(git.root, `${repository}.git`), 'main'])
  await job.repository.git(['remote', 'add', 'origin', `${url}/${repository}.git`])
  const { client } = job.running
  const project_id = job.project.id
  const [owner = '', repo = ''] = repository.split('/')
  await client.call('integrations.create', {
    project_id,
    platform,
    base_url,
    owner,
    repo,
    token_secret_ref: secret,
    ...(!pollsByDefault && { poll_interval_secs: 86_400 }),
    pull_requests: SettingsShape.parse({ enabled: true, ...settings }),
  })
  const owned = opened.move()
  return {
    job,
    forge,
    git,
    secret,
    configure: async (pull_requests, more = {}) => {
      await job.running.client.call('integrations.update', { project_id, pull_requests, ...more })
    },
    atGate: async (command, more = {}) => {
      const task = await job.task({ title: 'Greet in French', description: 'Say bonjour.', ...more })
      await job.claim(task, await job.agent(`${command}; echo done`, `Scripted ${++counter}`))
      return await job.running.taskWhere(
        task.id,
        (one) =>
          one.status === 'pull_request' &&
          !one.entry_barrier &&
          (one.pull_request !== null || one.error_annotation !== null),
      )
    },
    get: ({ id }) => job.running.client.call('pull_requests.get', { task_id: id }),
    sync: ({ id }) => job.running.client.call('pull_requests.sync', { task_id: id }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/**
 * Somebody else pushes a file to a branch at the forge, on top of what is there or of the branch `from`; returns the
 * commit.
 */
export async function pushAsRita(
  { git: hosting, job }: PullRequestJob,
  branch: string,
  file: string,
  { from = branch, text = 'by rita\n' } = {},
): Promise<string> {
  const clone = await mkdtemp(join(tmpdir(), 'copse-rita-'))
  try {
    const git = (...args: string[]) =>
      job.repository.git(['-C', clone, '-c', 'user.name=Rita', '-c', 'user.email=rita@copse.test', ...args])
    await git('clone', '--quiet', '--branch', from, join(hosting.root, `${repository}.git`), '.')
    await writeFile(join(clone, file), text)
    await git('add', file)
    await git('commit', '--quiet', '--message', `Add ${file}`)
    await git('push', '--quiet', '--force', 'origin', `HEAD:${branch}`)
    return (await git('rev-parse', 'HEAD')).trim()
  } finally {
    await rm(clone, { recursive: true, force: true })
  }
}
