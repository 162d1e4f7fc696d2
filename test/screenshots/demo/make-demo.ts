import { createTestRepository } from '../../helpers/git-repository.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { audited, checks, claim, conflicting, finish, inReview, planned, rejected, until, write } from './ferry.ts'
import type { Making } from './ferry.ts'
import { makeNeighbours } from './neighbours.ts'
import { ferryFiles } from './repository.ts'
import type { World } from './world.ts'
import { present } from '../../helpers/present.ts'

/** What the pictures are taken of. */
export interface Demo extends AsyncDisposable {
  readonly projectId: string
  readonly emptyProjectId: string
  readonly tasks: Readonly<Record<'running' | 'review' | 'failing' | 'conflict' | 'plan' | 'barrier' | 'parent', Task>>
}

const policy = `A burst of failures comes back as a burst, because retries double without a random part.

- Full jitter in \`nextDelay\`, with the random source from outside
- A valid \`Retry-After\` sets the floor, as seconds or as a date
- The cap is \`policy.maxMs\`, whatever the endpoint asks for

See [the reasoning](https://example.org/backoff-and-jitter).`

/** Fills the service with several projects in the middle of a day's work. */
export async function makeDemo(world: World): Promise<Demo> {
  await using opened = new AsyncDisposableStack()
  const { client } = world
  const repository = opened.use(await createTestRepository({ name: 'ferry', within: world.home, files: ferryFiles }))
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const agent = (name: string, command: string) =>
    client.call('agents.create', {
      name,
      executor: 'claude-code',
      config: { command, model: 'opus', limits: { per_day: { usd: 25 } } },
    })
  const coder = await agent('Claude Code', world.programs.coder)
  const auditor = await agent('Auditor', world.programs.auditor)
  const making: Making = { world, project, repository, coder, auditor }
  await setUp(making)
  await makeFinished(making)
  const tasks = await makeAtWork(making)
  const emptyProjectId = await makeNeighbours(world, opened)
  await client.call('members.add', { project_id: project.id, email: 'jon@ferry.example' })
  await client.call('auth.create_token', { name: 'Cursor on the laptop' })
  await readSome(client)
  const owned = opened.move()
  return { projectId: project.id, emptyProjectId, tasks, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Hooks, a tracker with issues, and what the project knows. */
async function setUp({ world, project }: Making): Promise<void> {
  const { client, tracker } = world
  const script = (command: string, blocking = false) => ({ type: 'script' as const, command, blocking })
  const plain = { timeout_seconds: 120, success_exit_codes: [0], applies_to: 'all' as const }
  await client.call('projects.update_settings', {
    project_id: project.id,
    max_concurrent_executions: 4,
    default_review_config: { ci_steps: checks, review_prompt: null },
    lifecycle_hooks: {
      before_work: [{ ...script('npm ci', true), ...plain }],
      on_work_stop: [{ ...script('git diff --stat "$(git merge-base HEAD main)"'), ...plain }],
      on_task_done: [{ ...script("echo 'POST https://hooks.ferry.example/done: 503' >&2; exit 1"), ...plain }],
    },
  })
  tracker.repositories.set('harbour/ferry', [
    { number: 412, title: 'Document the dead-letter replay endpoint', labels: ['docs'], body: 'Nobody finds it.' },
    { number: 398, title: 'Show next attempt time on the endpoint page', labels: ['dashboard'] },
    { number: 377, title: 'Import endpoints from Svix export files', labels: ['import'] },
  ])
  await client.call('integrations.create', {
    project_id: project.id,
    platform: 'hosted',
    base_url: `${tracker.url}/api/v3`,
    owner: 'harbour',
    repo: 'ferry',
    token_secret_ref: 'FERRY_ISSUES_TOKEN',
    default_task_state: 'todo',
  })
  await client.call('integrations.sync', { project_id: project.id })
  const know = (title: string, body: string) => client.call('knowledge.create', { project_id: project.id, title, body })
  await know(
    'Time comes from the injected clock',
    'Tests freeze `clock.now()`; `Date.now()` in production code breaks them.',
  )
  await know(
    'One statement per store call',
    'Two processes share the database: what must hold together is one statement.',
  )
  const template = { project_id: project.id, description: 'What happens, and what should.', labels: ['bug'] }
  await client.call('task_templates.create', { ...template, name: 'Bug', title: 'Fix: ', priority: 3 })
  await client.call('task_templates.create', {
    project_id: project.id,
    name: 'Update libraries',
    title: 'Update libraries',
    review_config: { ci_steps: ['npm outdated', 'npm test'] },
  })
}

async function makeFinished(making: Making): Promise<void> {
  for (const title of [
    'Verify signatures in constant time',
    'Close idle keep-alive sockets on reload',
    'Paginate the attempts list by cursor',
    'Health check reports queue depth',
  ]) {
    await finish(making, { title, priority: 2 })
  }
  const { id } = await write(making, { title: 'Kafka sink (superseded by HTTP sink)' })
  await making.world.client.call('tasks.cancel', { task_id: id })
}

async function makeAtWork(making: Making): Promise<Demo['tasks']> {
  const { client } = making.world
  const review = await audited(making, {
    title: 'Lease deliveries so two workers never send the same event',
    priority: 4,
    labels: ['delivery'],
    description: 'Two workers may read the same due row and both send it.',
  })
  const failing = await rejected(making, { title: 'Prometheus histogram for delivery latency', priority: 1 })
  const conflict = await conflicting(
    making,
    { title: 'Split the dashboard bundle by route', priority: 1 },
    {
      'dashboard/vite.config.ts':
        "import { defineConfig } from 'vite'\n\nexport default defineConfig({\n  build: { outDir: '../dist/dashboard', chunkSizeWarningLimit: 500 },\n})\n",
    },
  )
  const plan = await planned(making, { title: 'Tenant-scoped API keys', priority: 1 }, true)
  const barrier = await write(making, {
    title: 'Cap payload size before it reaches the queue',
    priority: 2,
    labels: ['delivery'],
  })
  await claim(making, barrier)
  await until(making, barrier, ({ error_annotation }) => error_annotation !== null)
  const imported = (await client.call('tasks.list', { project_id: making.project.id, q: 'Svix' })).items[0]
  if (imported) {
    await claim(making, imported)
    await until(making, imported, ({ error_annotation }) => error_annotation !== null)
  }
  await inReview(making, { title: 'Redact Authorization headers in delivery logs', priority: 3, labels: ['security'] })
  const parent = await makeParent(making)
  await planned(
    making,
    { title: 'Move delivery attempts to a partitioned table', priority: 3, labels: ['store'] },
    false,
  )
  const running = await makeRunning(making)
  await makeWaiting(making, review)
  return { running, review, failing, conflict, plan, barrier, parent }
}

async function makeParent(making: Making): Promise<Task> {
  const task = await write(making, {
    title: 'Postgres store behind the Store interface',
    priority: 2,
    labels: ['store'],
  })
  for (const title of ['Schema for Postgres', 'Migrations for Postgres'])
    await finish(making, { title, parent_id: task.id })
  for (const title of ['Due deliveries by one statement', 'Run both stores in the tests', 'Say how to move over']) {
    await write(making, { title, parent_id: task.id, status: 'backlog' })
  }
  await claim(making, task)
  return task
}

/** The one that most pictures show: its agent is at work, and people have said something to it. */
async function makeRunning(making: Making): Promise<Task> {
  const { client } = making.world
  const task = await write(making, {
    title: 'Retry with full jitter and honour Retry-After',
    description: policy,
    priority: 3,
    labels: ['delivery'],
    review_config: { ci_steps: checks },
  })
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: making.coder.id })
  const comment = (body: string, more: object = {}) =>
    client.call('comments.create', { task_id: task.id, body, ...more })
  const { id } = await comment('One customer answers with a `Retry-After` of a week. The cap has to win there.')
  await comment('Then the cap wins, and the attempt counts as usual.', { parent_id: id })
  // The log of its last call says that it has come that far.
  for await (const item of client.transcript(
    { execution_id: present(execution).id },
    null,
    AbortSignal.timeout(60_000),
  )) {
    if (item.kind === 'entry' && item.entry.type === 'tool_call' && item.entry.target?.endsWith('backoff')) break
  }
  const anchor = { path: 'src/delivery/backoff.ts', side: 'new' as const, line: 5 }
  await comment('Does the test hold this with a fixed random?', { anchor })
  return task
}

/** What is still to be done, and who waits for whom. */
async function makeWaiting(making: Making, review: Task): Promise<void> {
  const { client } = making.world
  const sign = await write(making, {
    title: 'Sign outgoing payloads with per-endpoint Ed25519 keys',
    priority: 3,
    labels: ['security'],
  })
  await client.call('tasks.add_dependency', { task_id: sign.id, depends_on_id: review.id })
  await write(making, { title: 'Drop Node 20 from the CI matrix', priority: 1 })
  for (const title of [
    'Replay a whole day of deliveries',
    'Dark theme for the dashboard',
    'Alert when a queue grows',
  ]) {
    await write(making, { title, status: 'backlog' })
  }
  await client.call('projects.update_settings', {
    project_id: making.project.id,
    max_concurrent_executions: 3,
    limits: {
      per_run: { usd: 5, turns: 200 },
      per_task: { usd: 20 },
      per_day: { usd: 60, minutes: 600 },
      warn_at: 0.8,
    },
  })
  const queued = await write(making, {
    title: 'Rate-limit deliveries per destination host',
    priority: 3,
    labels: ['delivery'],
  })
  await claim(making, queued)
}

/** Of what the inbox says only a little is new, as on most days: what waits for somebody. */
async function readSome(client: World['client']): Promise<void> {
  await client.call('notifications.mark_all_read', {})
  const { items } = await client.call('notifications.list', { kind: 'needs_you' })
  for (const { id } of items.slice(0, 3)) await client.call('notifications.mark_unread', { notification_id: id })
}
