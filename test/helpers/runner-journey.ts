import { execFile } from 'node:child_process'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { startKillableApp, type KillableApp } from './killable-app.ts'
import { processesIn } from './processes-in.ts'
import type { Hit, RunnerWorld } from './runner-world.ts'

const execute = promisify(execFile)

/** A kill, and how many commits the agents had made until then. */
export interface Kill {
  readonly kind: string
  readonly commits: number
}

export interface EndedRun {
  /** What was killed last. */
  readonly kind: string
  readonly status: string
  readonly error: string | null
}

/** One task from its claim to its review, with kills on the way. */
export class RunnerJourney {
  readonly kills: Kill[] = []
  /** The runs that a kill has ended, each of which was started again. */
  readonly ended: EndedRun[] = []
  /** The kinds of kills before which a commit was made that is found nowhere. */
  readonly missing: string[] = []
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

  /** Kills at a moment within the next seconds, and returns once the run goes on or has started again. */
  async kill(kind: string): Promise<void> {
    const { random, endsRuns, failures } = this.#world
    await setTimeout(random.between(0, 1_500))
    const before = await this.#newest()
    const commits = await this.#lines('commit')
    const hit = await this.#hit(kind)
    if (hit === 'missed') return
    // The agent of a killed runner works on until the next runner ends it.
    const mayGoOn = hit === 'hit' && !(endsRuns.has(kind) && before?.status === 'running')
    await expect
      .poll(
        async () => {
          const { status, error, link: contact } = (await this.#newest()) ?? {}
          if (status === 'lost' || status === 'succeeded') return 'settled'
          if (status === 'failed' && failures.has(kind)) return 'settled'
          const goesOn = status === 'running' && contact?.state !== 'lost'
          const more = (await this.#lines('commit')).length - commits.length
          return mayGoOn && goesOn && more > 0
            ? 'settled'
            : JSON.stringify({ kind, status, contact, more, error, before: before?.status, ...(await this.#waits()) })
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe('settled')
    await this.#startAgain(kind)
  }

  /** Why the run doesn't start, if it doesn't. */
  async #waits() {
    const { client } = this.#app
    const { state, last_error, running } = await client.call('runners.get', { runner_id: this.#runner_id })
    const { project_id } = await client.call('tasks.get', { task_id: this.#task_id })
    const { waiting } = await client.call('projects.queue', { project_id })
    return { runner: { state, last_error, running }, waiting: waiting.map(({ reason }) => reason) }
  }

  async #hit(kind: string): Promise<Hit> {
    const { random, dataDir } = this.#world
    const commits = (await this.#lines('commit')).length
    if (kind !== 'service') {
      const hit = await this.#world.hit(kind, () => this.#ends(kind))
      if (hit !== 'missed') this.kills.push({ kind, commits })
      return hit
    }
    this.kills.push({ kind, commits })
    await this.#app.kill()
    await setTimeout(random.between(0, 1_000))
    this.#app = await startKillableApp(dataDir)
    this.#world.restarted(this.#app)
    return 'hit'
  }

  /** Waits until the run has ended by a kill, and starts it again. */
  async #ends(kind: string): Promise<void> {
    const { client } = this.#app
    await this.#app.eventually(
      () => client.call('tasks.executions', { task_id: this.#task_id }),
      ({ items }) => items.every(({ status }) => status !== 'queued' && status !== 'running'),
    )
    await this.#startAgain(kind)
  }

  /** Lets the agent end, kills once more, and waits for the review. */
  async finish(last: string): Promise<void> {
    const { home, random, endMs } = this.#world
    await appendFile(join(home, 'enough'), '')
    await setTimeout(random.between(0, endMs))
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
      if (!(await this.#startAgain(last))) return
    }
  }

  /** Looks that all is here, and that nothing is left there. */
  async check(): Promise<void> {
    const { home } = this.#world
    const { client } = this.#app
    const task_id = this.#task_id
    const starts = await this.#lines('start')
    expect(new Set(starts).size, 'an execution that ran twice').toBe(starts.length)
    const { items } = await client.call('tasks.executions', { task_id })
    expect(items).toHaveLength(1 + this.ended.length)
    expect(items.map(({ attempt }) => attempt).sort()).toEqual(items.map((_, index) => index + 1))
    await this.#lookForCommits()
    expect(this.missing).toEqual([])
    const { files } = await client.call('tasks.diff', { task_id, scope: 'branch' })
    // What a lost run had not sent is a rescue, and no part of the branch.
    expect(files.map(({ path }) => path)).toContain('loose.txt')
    await expect.poll(() => this.#world.works(), { timeout: 20_000 }).toEqual([])
    const { project_id } = await client.call('tasks.get', { task_id })
    await client.call('projects.update_settings', { project_id, runner_ids: ['here' as RunnerId] })
    await this.#world.end(this.#app)
    await expect.poll(() => processesIn([home]), { timeout: 20_000 }).toEqual([])
    await expect.poll(() => this.#world.left(), { timeout: 20_000 }).toEqual([])
  }

  async #lookForCommits(): Promise<void> {
    const { repository, dataDir } = this.#world
    const names = await readdir(join(dataDir, 'arrivals')).catch(() => [])
    const repositories = [repository.path, ...names.map((name) => join(dataDir, 'arrivals', name))]
    for (const [at, commit] of (await this.#lines('commit')).entries())
      if (!(await isKept(repositories, commit)))
        this.missing.push(this.kills.find(({ commits }) => commits > at)?.kind ?? 'the end')
  }

  /** Starts a lost or failed run again; returns whether it was one. */
  async #startAgain(kind: string): Promise<boolean> {
    const { status, error } = (await this.#newest()) ?? {}
    if (status !== 'lost' && status !== 'failed') return false
    // A run fails only for what was done to it, and says what that was.
    const isKnown = [...this.#world.failures.values()].some((reason) => reason.test(error ?? ''))
    if (status === 'failed') expect({ kind, error, isKnown }).toMatchObject({ isKnown: true })
    this.ended.push({ kind, status, error: error ?? null })
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
