import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { PullRequest, PullRequestSettings } from '../../src-shared/contract/pull-requests.ts'
import { PullRequestSettings as Settings } from '../../src-shared/contract/pull-requests.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { Mount } from '../fakes/forges/forge-server.ts'
import { startGitea, type GiteaServer } from '../fakes/forges/gitea.ts'
import { createGitHosting, type GitHosting } from '../fakes/git-http-server.ts'
import { bareForgeGit } from './bare-forge-git.ts'
import { startJob, type Job } from './job.ts'
import { projectRoot } from './project-root.ts'

export const repository = 'octo/hello'

/** A project whose repository lies at a scripted Gitea, with real git below it, and the workflow for pull requests. */
export interface PullRequestJob extends AsyncDisposable {
  readonly job: Job
  readonly forge: GiteaServer
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

let counter = 0

export async function startPullRequestJob(
  settings: Partial<PullRequestSettings> = {},
  options: Parameters<typeof startJob>[0] = {},
): Promise<PullRequestJob> {
  await using opened = new AsyncDisposableStack()
  const git = opened.use(await createGitHosting())
  const mount: Mount = (request, response) => request.url?.includes('.git/') === true && git.handle(request, response)
  const forge = opened.use(await startGitea({ git: bareForgeGit(git), mount }))
  const template = parse(await readFile(join(projectRoot, 'workflows/pull-request.yaml'), 'utf8')) as object
  const job = opened.use(await startJob({ workflow: () => template, ...options }))
  await git.create(repository)
  git.tokens.add(forge.token)
  forge.repository(repository)
  const url = `${forge.url}/${repository}.git`
  const secret = `SVC_SECRET_FORGE_${process.pid}_${++counter}`
  process.env[secret] = forge.token
  opened.defer(() => {
    Reflect.deleteProperty(process.env, secret)
  })
  // The first commits come from the person's own clone.
  await job.repository.git(['push', '--quiet', join(git.root, `${repository}.git`), 'main'])
  await job.repository.git(['remote', 'add', 'origin', url])
  const { client } = job.running
  const project_id = job.project.id
  await client.call('integrations.create', {
    project_id,
    platform: 'selfhosted',
    base_url: forge.url,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: secret,
    poll_interval_secs: 86_400,
    pull_requests: Settings.parse({ enabled: true, ...settings }),
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
