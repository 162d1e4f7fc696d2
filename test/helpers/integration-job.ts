import type { Integration } from '../../src-shared/contract/integrations.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { startTracker, type FakeTracker } from './fake-tracker.ts'
import { startJob, type Job } from './job.ts'
import type { RunOptions } from './running-app.ts'

/** A project beside a tracker, and the token in the environment. */
export interface IntegrationJob extends AsyncDisposable {
  readonly job: Job
  readonly tracker: FakeTracker
  readonly secret: string
  /** For `octo/hello` of the tracker, as `hosted`, by default. */
  integrate(more?: Partial<OperationInput<'integrations.create'>>): Promise<Integration>
  sync(): Promise<{ imported: number; skipped: number; errors: number }>
  integration(): Promise<Integration>
  /** By position. */
  tasks(): Promise<readonly Task[]>
}

let counter = 0

export async function startIntegrationJob(options: RunOptions = {}): Promise<IntegrationJob> {
  await using opened = new AsyncDisposableStack()
  const tracker = opened.use(await startTracker())
  const job = opened.use(await startJob(options))
  const secret = `SVC_SECRET_TRACKER_${process.pid}_${++counter}`
  process.env[secret] = tracker.token
  opened.defer(() => {
    Reflect.deleteProperty(process.env, secret)
  })
  const project_id = job.project.id
  const owned = opened.move()
  return {
    job,
    tracker,
    secret,
    integrate: (more = {}) =>
      job.running.client.call('integrations.create', {
        project_id,
        platform: 'hosted',
        base_url: tracker.url,
        owner: 'octo',
        repo: 'hello',
        token_secret_ref: secret,
        poll_interval_secs: 86_400,
        ...more,
      }),
    sync: () => job.running.client.call('integrations.sync', { project_id }),
    integration: () => job.running.client.call('integrations.get', { project_id }),
    tasks: async () => {
      const items: Task[] = []
      let cursor: string | undefined
      do {
        const page = await job.running.client.call('tasks.list', {
          project_id,
          limit: 200,
          ...(cursor !== undefined && { cursor }),
        })
        items.push(...page.items)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined)
      return items
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
