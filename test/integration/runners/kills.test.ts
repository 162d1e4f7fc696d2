import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'
import { createBadLink, type BadLink } from '../../helpers/bad-link.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp, type KillableApp } from '../../helpers/killable-app.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { seededRandom, type SeededRandom } from '../../helpers/seeded-random.ts'
import { startTestSshd, type TestSshd } from '../../helpers/test-sshd.ts'

// At moments that no one chose, the service, the runner there and the link between them are killed, cut and held up. A
// run is never started twice without saying so, and every commit that an agent has made is found here in the end.

const kills = Number(process.env['COPSE_RUNNER_KILLS'] ?? 4)
const seed = Number(process.env['COPSE_RUNNER_KILL_SEED'] ?? 11)
const killsPerTask = 5

vi.setConfig({ testTimeout: 240_000 + kills * 60_000 })

const execute = promisify(execFile)
const kinds = ['service', 'runner', 'link', 'slow'] as const
type Kind = (typeof kinds)[number]

interface World extends AsyncDisposable {
  readonly dataDir: string
  /** The home of the machine there. */
  readonly home: string
  readonly link: BadLink
  readonly server: TestSshd
  readonly repository: TestRepository
  readonly random: SeededRandom
}

async function createWorld(worldSeed: number): Promise<World> {
  await using made = new AsyncDisposableStack()
  const folder = async (name: string) => {
    const path = await mkdtemp(join(tmpdir(), name))
    made.defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
    return path
  }
  const dataDir = await folder('copse-kill-runner-')
  const home = await folder('copse-far-')
  made.defer(() => {
    for (const { pid } of processesIn([home])) process.kill(pid, 'SIGKILL')
  })
  const link = made.use(createBadLink())
  const server = made.use(await startTestSshd(home, (port) => link.to(port)))
  const repository = made.use(await createTestRepository())
  const owned = made.move()
  const random = seededRandom(worldSeed)
  return { dataDir, home, link, server, repository, random, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** One task from its claim to its review with so many kills; counts them by their kind. */
class Journey {
  readonly counts: Record<Kind | 'lost', number> = { service: 0, runner: 0, link: 0, slow: 0, lost: 0 }
  readonly #world: World
  #app: KillableApp
  #runner_id = ''
  #task_id = ''

  constructor(world: World, app: KillableApp) {
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
    const { repository, server, home } = this.#world
    await writeFile(this.#effects, '')
    const config = { host: 'far', ssh_config: server.ssh_config }
    const { id: runner_id } = await client.call('runners.create', { name: 'Far', kind: 'ssh', config })
    this.#runner_id = runner_id
    await this.#app.eventually(
      () => client.call('runners.get', { runner_id }),
      ({ state }) => state === 'ready',
    )
    const { id: project_id } = await client.call('projects.create', { name: 'Kill', repo_path: repository.path })
    await client.call('projects.update_settings', { project_id, runner_ids: [runner_id as RunnerId] })
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
  async kill(kind: Kind): Promise<void> {
    const { random, link, dataDir } = this.#world
    await setTimeout(random.between(0, 1_500))
    const before = await this.#newest()
    const commits = (await this.#lines('commit')).length
    this.counts[kind] += 1
    if (kind === 'link') link.cut()
    if (kind === 'slow') link.hold(random.between(200, 3_000))
    if (kind === 'runner') await this.#killRunner()
    if (kind === 'service') {
      await this.#app.kill()
      await setTimeout(random.between(0, 1_000))
      this.#app = await startKillableApp(dataDir)
    }
    // The agent of a killed runner works on until the next runner ends it.
    const mayGoOn = kind !== 'runner' || before?.status !== 'running'
    await expect
      .poll(
        async () => {
          const { status, error, link: contact } = (await this.#newest()) ?? {}
          if (status === 'lost' || status === 'succeeded') return 'settled'
          const goesOn = status === 'running' && contact?.state === 'connected'
          const more = (await this.#lines('commit')).length - commits
          return mayGoOn && goesOn && more > 0
            ? 'settled'
            : { kind, status, contact, more, error, before: before?.status }
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe('settled')
    await this.#retryLost()
  }

  async finish(last: Kind): Promise<void> {
    const { home, random, link, dataDir } = this.#world
    await appendFile(join(home, 'enough'), '')
    await setTimeout(random.between(0, 2_500))
    this.counts[last] += 1
    if (last === 'link') link.cut()
    if (last === 'slow') link.hold(random.between(200, 3_000))
    if (last === 'runner') await this.#killRunner()
    if (last === 'service') {
      await this.#app.kill()
      this.#app = await startKillableApp(dataDir)
    }
    for (;;) {
      const { client } = this.#app
      const task_id = this.#task_id
      await expect
        .poll(
          async () => {
            const { status, error_annotation } = await client.call('tasks.get', { task_id })
            const { status: run, error, link: contact } = (await this.#newest()) ?? {}
            return status === 'review' || run === 'lost' ? 'ended' : { status, run, contact, error, error_annotation }
          },
          { timeout: 60_000, interval: 100 },
        )
        .toBe('ended')
      if (!(await this.#retryLost())) return
    }
  }

  /** Looks that all is here, and that nothing is left there. */
  async check(): Promise<void> {
    const { home, repository, dataDir, server } = this.#world
    const { client } = this.#app
    const task_id = this.#task_id
    const starts = await this.#lines('start')
    expect(new Set(starts).size, 'an execution that ran twice').toBe(starts.length)
    const { items } = await client.call('tasks.executions', { task_id })
    expect(items).toHaveLength(1 + this.counts.lost)
    expect(items.map(({ attempt }) => attempt).sort()).toEqual(items.map((_, index) => index + 1))
    const arrivals = (await readdir(join(dataDir, 'arrivals'))).map((name) => join(dataDir, 'arrivals', name))
    const missing: string[] = []
    for (const commit of await this.#lines('commit'))
      if (!(await isKept([repository.path, ...arrivals], commit))) missing.push(commit)
    expect(missing).toEqual([])
    const { files } = await client.call('tasks.diff', { task_id, scope: 'branch' })
    // What a lost run had not sent is a rescue, and no part of the branch.
    expect(files.map(({ path }) => path)).toContain('loose.txt')
    await expect.poll(() => processesIn([join(home, '.copse-runner', this.#runner_id, 'tasks')])).toEqual([])
    await expect
      .poll(() => readdir(join(home, '.copse-runner', this.#runner_id, 'jobs')), { timeout: 20_000 })
      .toEqual([])
    const { project_id } = await client.call('tasks.get', { task_id })
    await client.call('projects.update_settings', { project_id, runner_ids: ['here' as RunnerId] })
    await client.call('runners.delete', { runner_id: this.#runner_id })
    await expect.poll(() => processesIn([home]), { timeout: 20_000 }).toEqual([])
    await expect.poll(() => programsWith(server.ssh_config), { timeout: 20_000 }).toEqual([])
    expect(await readdir(join(home, '.copse-runner', this.#runner_id))).not.toContain('link.sock')
  }

  async #retryLost(): Promise<boolean> {
    if ((await this.#newest())?.status !== 'lost') return false
    this.counts.lost += 1
    await this.#app.client.call('tasks.recover', { task_id: this.#task_id, action: 'retry_execution' })
    return true
  }

  async #newest() {
    const { items } = await this.#app.client.call('tasks.executions', { task_id: this.#task_id })
    return items.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0]
  }

  async #killRunner(): Promise<void> {
    const pid = Number(
      await readFile(join(this.#world.home, '.copse-runner', this.#runner_id, 'pid'), 'utf8').catch(() => ''),
    )
    if (pid <= 1) return
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended already, and the next one has not begun.
    }
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

/** The programs that were started with this word. */
function programsWith(word: string): readonly string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return command.includes(word) ? [command] : []
      } catch {
        return []
      }
    })
}

test.runIf(sshd !== null && process.platform === 'linux')(
  `loses nothing of runs on another machine through ${kills} kills`,
  async () => {
    const sums = { service: 0, runner: 0, link: 0, slow: 0, lost: 0 }
    const order = seededRandom(seed)
    for (let left = kills, round = 0; left > 0; round += 1) {
      const count = Math.min(left, killsPerTask)
      left -= count
      await using world = await createWorld(seed + round)
      const journey = new Journey(world, await startKillableApp(world.dataDir))
      try {
        await journey.begin()
        // The first kills are one of each kind.
        const kindOf = (at: number): Kind => (round === 0 ? kinds[at % kinds.length] : undefined) ?? order.pick(kinds)
        for (let at = 0; at < count - 1; at += 1) await journey.kill(kindOf(at))
        await journey.finish(kindOf(count - 1))
        await journey.check()
      } catch (error) {
        if (process.env['COPSE_RUNNER_KILLS']) process.stdout.write(`${JSON.stringify({ round, ...journey.counts })}\n`)
        throw error
      } finally {
        await journey.app[Symbol.asyncDispose]()
      }
      for (const kind of [...kinds, 'lost'] as const) sums[kind] += journey.counts[kind]
      if (process.env['COPSE_RUNNER_KILLS']) process.stdout.write(`${JSON.stringify({ round, left, ...sums })}\n`)
    }
  },
)
