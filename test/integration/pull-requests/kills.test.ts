import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'yaml'
import { expect, test, vi } from 'vitest'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { PullRequestSettings } from '../../../src-shared/contract/pull-requests.ts'
import { startGitea, type GiteaServer } from '../../fakes/forges/gitea.ts'
import type { Mount } from '../../fakes/forges/forge-server.ts'
import { createGitHosting, type GitHosting } from '../../fakes/git-http-server.ts'
import { answeringAgent } from '../../helpers/any-forge.ts'
import { bareForgeGit } from '../../helpers/bare-forge-git.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp, type KillableApp } from '../../helpers/killable-app.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { seededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'

// The service is killed while a forge does what it was asked to, whose answer nobody hears. Whatever that was, there is
// one pull request, one answer, one comment and one closing in the end.

const kills = Number(process.env['COPSE_PULL_KILLS'] ?? 4)
const seed = Number(process.env['COPSE_PULL_KILL_SEED'] ?? 7)
const killsPerTask = 5

vi.setConfig({ testTimeout: 240_000 + kills * 60_000 })

const name = 'octo/hello'

interface World extends AsyncDisposable {
  readonly dataDir: string
  readonly forge: GiteaServer
  readonly git: GitHosting
  readonly repository: Awaited<ReturnType<typeof createTestRepository>>
  readonly random: SeededRandom
  /** Called when a write begins: of the API, or a push. */
  onWrite: () => void
}

async function createWorld(worldSeed: number): Promise<World> {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-kill-pull-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  const git = opened.use(await createGitHosting())
  const state = { onWrite: () => {} }
  const mount: Mount = (request, response) => {
    const isGit = request.url?.includes('.git/') === true
    if (isGit && request.method === 'POST' && request.url?.endsWith('git-receive-pack') === true) state.onWrite()
    return isGit && git.handle(request, response)
  }
  const forge = opened.use(await startGitea({ git: bareForgeGit(git), mount }))
  forge.instead = ({ method }) => {
    if (method !== 'GET') state.onWrite()
    return null
  }
  const repository = opened.use(await createTestRepository())
  await git.create(name)
  git.tokens.add(forge.token)
  forge.repository(name)
  await repository.git(['push', '--quiet', join(git.root, `${name}.git`), 'main'])
  await repository.git(['remote', 'add', 'origin', `${forge.url}/${name}.git`])
  const owned = opened.move()
  return Object.assign(state, {
    dataDir,
    forge,
    git,
    repository,
    random: seededRandom(worldSeed),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  })
}

/** Makes a project with everything switched on, an issue and its task, at which an agent works. */
async function begin({ client }: KillableApp, { forge, repository }: World, secret: string) {
  const { id: project_id } = await client.call('projects.create', { name: 'Kill', repo_path: repository.path })
  const template: unknown = parse(await readFile(join(projectRoot, 'workflows/pull-request.yaml'), 'utf8'))
  await client.call('projects.update', { project_id, workflow_definition: JSON.stringify(template) })
  const auto_fix = { enabled: true, max_rounds: 100, from: 'members', also: ['rita'], resolve: true }
  await client.call('integrations.create', {
    project_id,
    platform: 'selfhosted',
    base_url: forge.url,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: secret,
    poll_interval_secs: 86_400,
    pull_requests: PullRequestSettings.parse({ enabled: true, auto_merge: true, auto_fix }),
    write_back: { comment: true, close: true, label: 'in work', follow: false },
  })
  const issue = forge.people.issue(name, { title: 'Greet in French' })
  const { id: task_id } = await client.call('tasks.create', { project_id, title: issue.title })
  await client.call('tasks.link', { task_id, url: `${forge.url}/${name}/issues/${issue.number}` })
  const config = { command: answeringAgent }
  const { id: agent_id } = await client.call('agents.create', { name: 'Scripted', executor: 'command', config })
  await client.call('tasks.claim', { task_id, agent_id })
  return { task_id, issue }
}

/** What people and the forge's checks do: the first commit fails, a comment on the second, all others pass. */
async function actThere({ forge }: World, seen: Map<number, Set<string>>): Promise<void> {
  for (const { number, state, pull } of forge.repository(name).issues) {
    if (pull === null || pull.merged !== null || state !== 'open') continue
    const heads = seen.get(number) ?? new Set()
    seen.set(number, heads)
    if (heads.has(pull.commit)) continue
    heads.add(pull.commit)
    if (heads.size === 2)
      forge.people.commentOnLine(name, number, 'rita', { path: 'greeting.txt', line: 1, body: 'Say it twice.' })
    await forge.people.status(name, pull.commit, 'ci/build', heads.size === 1 ? 'failure' : 'success')
  }
}

/** One task from its claim to its merge, with at most this many kills; returns how many there were. */
async function survive(worldSeed: number, count: number): Promise<number> {
  await using world = await createWorld(worldSeed)
  const secret = `SVC_SECRET_KILL_${process.pid}`
  process.env[secret] = world.forge.token
  let app = await startKillableApp(world.dataDir)
  try {
    let left = count
    let killed = 0
    let isDead = false
    const arm = () => {
      isDead = false
      let until = left > 0 ? Math.floor(world.random.between(1, 4)) : Infinity
      const dying = app
      world.onWrite = () => {
        if (isDead || --until > 0) return
        isDead = true
        left--
        killed++
        void dying.kill()
      }
    }
    const { task_id, issue } = await begin(app, world, secret)
    arm()
    const seen = new Map<number, Set<string>>()
    const step = async () => {
      if (isDead) {
        await app.exited
        app = await startKillableApp(world.dataDir)
        arm()
      }
      await actThere(world, seen)
      const { client } = app
      try {
        const task = await client.call('tasks.get', { task_id })
        const [action] = task.error_annotation?.recovery_actions ?? []
        if (action) await client.call('tasks.recover', { task_id, action })
        if (task.pull_request) await client.call('pull_requests.sync', { task_id })
        return task.status
      } catch (error) {
        // A service that lives may refuse, but not break its contract.
        if (!isDead && !(error instanceof ApiError)) throw error
        return ''
      }
    }
    const isOver = (status: string) => status === 'done' && left === 0 && !isDead && issue.state === 'closed'
    const deadline = performance.now() + 200_000 + count * 30_000
    let status = ''
    while (!isOver(status) && performance.now() < deadline) {
      status = await step()
      if (status === 'done' && left > 0) left = 0
      await setTimeout(50)
    }
    expect(killed).toBeGreaterThan(0)
    expect({ status, issue: issue.state }).toEqual({ status: 'done', issue: 'closed' })
    await app.eventually(
      () => Promise.resolve(issue.comments.length === 1 && issue.labels.size === 0),
      (isTold) => isTold,
    )
    const pulls = world.forge.repository(name).issues.filter(({ pull }) => pull !== null)
    expect(pulls).toHaveLength(1)
    const words = pulls[0]?.pull?.codeComments.map(({ body }) => body.split('\n')[0])
    expect(words).toEqual(['Say it twice.', 'Said twice now.'])
    const closings = world.forge.requests.filter(
      ({ method, path, body }) =>
        method === 'PATCH' && path.endsWith(`/issues/${issue.number}`) && JSON.stringify(body).includes('closed'),
    )
    expect(closings).toHaveLength(1)
    expect(world.forge.failures).toEqual([])
    const main = (await world.git.refs(name))['refs/heads/main']
    expect((await world.repository.git(['rev-parse', 'main'])).trim()).toBe(main)
    return killed
  } finally {
    Reflect.deleteProperty(process.env, secret)
    await app[Symbol.asyncDispose]()
  }
}

test('leaves one pull request, one answer, one comment and one closing when killed at what it writes', async () => {
  let done = 0
  for (let world = 0; done < kills; world++) {
    const killed = await survive(seed + world, Math.min(killsPerTask, kills - done))
    done += killed
    if (process.env['COPSE_PULL_KILLS'] !== undefined) console.info(`${done} kills, after world ${seed + world}`)
  }
})
