import { execFile } from 'node:child_process'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'
import { startKillableApp, type KillableApp } from '../../helpers/killable-app.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { createDaemonWorld, createSshWorld, type RunnerWorld } from '../../helpers/runner-world.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'

// At moments that no one chose, the service, the runner there and the link between them are killed, cut, held up, doubled
// and put out of order, answers are lost and the disk there is full. A run is never started twice without saying so, and
// every commit that an agent has made is found here in the end.

const kills = Number(process.env['COPSE_RUNNER_KILLS'] ?? 4)
const seed = Number(process.env['COPSE_RUNNER_KILL_SEED'] ?? 11)
const killsPerTask = 5

vi.setConfig({ testTimeout: 240_000 + kills * 60_000 })

const execute = promisify(execFile)
/** One task from its claim to its review with so many kills; counts them by their kind. */
class Journey {
  readonly counts: Record<string, number> = {}
  readonly #world: RunnerWorld
  #app: KillableApp
  #runner_id = ''
  #task_id = ''

  constructor(world: RunnerWorld, app: KillableApp) {
    this.#world = world
    this.#app = app
  }

  get app(): KillableApp {
    return this.#app
  }

  get #effects(): string {
    return join(this.#world.home, 'effects')
  }

  async begin(): Promise<void> {
    const { client } = this.#app
    const { repository, home } = this.#world
    await writeFile(this.#effects, '')
    const runner_id = await this.#world.connect(this.#app)
    this.#runner_id = runner_id
    await this.#app.eventually(
      () => client.call('runners.get', { runner_id }),
      ({ state }) => state === 'ready',
    )
    const { id: project_id } = await client.call('projects.create', { name: 'Kill', repo_path: repository.path })
    await client.call('projects.update_settings', { project_id, runner_ids: [runner_id] })
    const command = [
      `echo "start $SVC_EXECUTION_ID" >> '${home}/effects'; n=0`,
      `while [ ! -e '${home}/enough' ]; do n=$((n+1)); echo "$SVC_EXECUTION_ID $n" >> work.txt; git add work.txt`,
      `git commit -qm "$n" && echo "commit $(git rev-parse HEAD)" >> '${home}/effects'; sleep 0.2; done`,
      `echo loose > loose.txt; echo "end $SVC_EXECUTION_ID" >> '${home}/effects'`,
    ].join('; ')
    const { id: agent_id } = await client.call('agents.create', {
      name: 'Far',
      executor: 'command',
      config: { command },
    })
    const { id: task_id } = await client.call('tasks.create', { project_id, title: 'A task' })
    this.#task_id = task_id
    await client.call('tasks.claim', { task_id, agent_id })
  }

  /** Kills at a moment within the next seconds, and returns once the run goes on or is lost. */
  async kill(kind: string): Promise<void> {
    await setTimeout(this.#world.random.between(0, 1_500))
    const before = await this.#newest()
    const commits = (await this.#lines('commit')).length
    await this.#hit(kind)
    // The agent of a killed runner works on until the next runner ends it.
    const mayGoOn = kind !== 'runner' || before?.status !== 'running'
    await expect
      .poll(
        async () => {
          const { status, error, link: contact } = (await this.#newest()) ?? {}
          if (status === 'lost' || status === 'succeeded' || (kind === 'disk' && status === 'failed')) return 'settled'
          const goesOn = status === 'running' && contact?.state === 'connected'
          const more = (await this.#lines('commit')).length - commits
          return mayGoOn && goesOn && more > 0
            ? 'settled'
            : { kind, status, contact, more, error, before: before?.status, ...(await this.#waits()) }
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe('settled')
    await this.#retryLost()
  }

  /** Why the run doesn't start, if it doesn't. */
  async #waits() {
    const { client } = this.#app
    const { state, last_error, running } = await client.call('runners.get', { runner_id: this.#runner_id })
    const { project_id } = await client.call('tasks.get', { task_id: this.#task_id })
    const { waiting } = await client.call('projects.queue', { project_id })
    return { runner: { state, last_error, running }, waiting: waiting.map(({ reason }) => reason) }
  }

  async #hit(kind: string): Promise<void> {
    const { random, dataDir } = this.#world
    this.#count(kind)
    if (kind !== 'service') return await this.#world.hit(kind)
    await this.#app.kill()
    await setTimeout(random.between(0, 1_000))
    this.#app = await startKillableApp(dataDir)
    this.#world.restarted(this.#app)
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }

  async finish(last: string): Promise<void> {
    const { home, random } = this.#world
    await appendFile(join(home, 'enough'), '')
    await setTimeout(random.between(0, 2_500))
    await this.#hit(last)
    for (;;) {
      const { client } = this.#app
      const task_id = this.#task_id
      await expect
        .poll(
          async () => {
            const { status, error_annotation } = await client.call('tasks.get', { task_id })
            const { status: run, error, link: contact } = (await this.#newest()) ?? {}
            return status === 'review' || run === 'lost' || run === 'failed'
              ? 'ended'
              : { status, run, contact, error, error_annotation }
          },
          { timeout: 60_000, interval: 100 },
        )
        .toBe('ended')
      if (!(await this.#retryLost())) return
    }
  }

  /** Looks that all is here, and that nothing is left there. */
  async check(): Promise<void> {
    const { home, repository, dataDir } = this.#world
    const { client } = this.#app
    const task_id = this.#task_id
    const starts = await this.#lines('start')
    expect(new Set(starts).size, 'an execution that ran twice').toBe(starts.length)
    const { items } = await client.call('tasks.executions', { task_id })
    expect(items).toHaveLength(1 + (this.counts['lost'] ?? 0))
    expect(items.map(({ attempt }) => attempt).sort()).toEqual(items.map((_, index) => index + 1))
    const arrivals = (await readdir(join(dataDir, 'arrivals'))).map((name) => join(dataDir, 'arrivals', name))
    const missing: string[] = []
    for (const commit of await this.#lines('commit'))
      if (!(await isKept([repository.path, ...arrivals], commit))) missing.push(commit)
    expect(missing).toEqual([])
    const { files } = await client.call('tasks.diff', { task_id, scope: 'branch' })
    // What a lost run had not sent is a rescue, and no part of the branch.
    expect(files.map(({ path }) => path)).toContain('loose.txt')
    await expect.poll(() => processesIn([join(this.#world.folder(), 'tasks')])).toEqual([])
    await expect.poll(() => readdir(join(this.#world.own(), 'jobs')), { timeout: 20_000 }).toEqual([])
    const { project_id } = await client.call('tasks.get', { task_id })
    await client.call('projects.update_settings', { project_id, runner_ids: ['here' as RunnerId] })
    await this.#world.end(this.#app)
    await expect.poll(() => processesIn([home]), { timeout: 20_000 }).toEqual([])
    await expect.poll(() => this.#world.left(), { timeout: 20_000 }).toEqual([])
    expect(await readdir(this.#world.own())).not.toContain('link.sock')
  }

  async #retryLost(): Promise<boolean> {
    const { status, error } = (await this.#newest()) ?? {}
    if (status !== 'lost' && status !== 'failed') return false
    // A run fails for the disk alone, and says so.
    if (status === 'failed') expect(error).toMatch(/disk|space/i)
    this.#count('lost')
    await this.#app.client.call('tasks.recover', { task_id: this.#task_id, action: 'retry_execution' })
    return true
  }

  async #newest() {
    const { items } = await this.#app.client.call('tasks.executions', { task_id: this.#task_id })
    return items.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0]
  }

  async #lines(word: string): Promise<readonly string[]> {
    const lines = (await readFile(this.#effects, 'utf8')).split('\n')
    return lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
  }
}

/** Returns whether a ref of one of the repositories leads to the commit. */
async function isKept(repositories: readonly string[], commit: string): Promise<boolean> {
  for (const path of repositories) {
    const args = ['-C', path, 'for-each-ref', '--count=1', `--contains=${commit}`]
    const { stdout } = await execute('git', args).catch(() => ({ stdout: '' }))
    if (stdout !== '') return true
  }
  return false
}

/** Lets tasks go through so many kills in all. */
async function survive(createWorld: (seed: number) => Promise<RunnerWorld>): Promise<void> {
  const sums: Record<string, number> = {}
  const say = (counts: object): void => {
    if (process.env['COPSE_RUNNER_KILLS']) process.stdout.write(`${JSON.stringify(counts)}\n`)
  }
  const order = seededRandom(seed)
  for (let left = kills, round = 0; left > 0; round += 1) {
    const count = Math.min(left, killsPerTask)
    left -= count
    await using world = await createWorld(seed + round)
    const kinds = ['service', ...world.kinds]
    const journey = new Journey(world, await startKillableApp(world.dataDir))
    try {
      await journey.begin()
      // The first kills are one of each kind.
      const kindOf = (at: number) => (round === 0 ? kinds[(at + seed) % kinds.length] : null) ?? order.pick(kinds)
      for (let at = 0; at < count - 1; at += 1) await journey.kill(kindOf(at))
      await journey.finish(kindOf(count - 1))
      await journey.check()
    } catch (error) {
      say({ failed: true, round, ...journey.counts })
      throw error
    } finally {
      await journey.app[Symbol.asyncDispose]()
    }
    for (const [kind, times] of Object.entries(journey.counts)) sums[kind] = (sums[kind] ?? 0) + times
    say({ round, left, ...sums })
  }
}

const isLinux = process.platform === 'linux'

test.runIf(isLinux && sshd !== null)(`loses nothing of runs on another machine through ${kills} kills`, () =>
  survive(createSshWorld),
)

test.runIf(isLinux)(`loses nothing of runs on a machine that connects itself through ${kills} kills`, () =>
  survive(createDaemonWorld),
)
