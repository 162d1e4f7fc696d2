import { execFile, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { ownFolder } from '../../src-main/runner/other-programs.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { startSvc } from '../integration/cli/svc-process.ts'
import { createBadLink } from './bad-link.ts'
import { createTestRepository, type TestRepository } from './git-repository.ts'
import type { KillableApp } from './killable-app.ts'
import { startLossyDoor, type LossyDoor } from './lossy-door.ts'
import { killIn, processesIn } from './processes-in.ts'
import { kill, programsWith } from './programs.ts'
import { projectRoot } from './project-root.ts'
import { seededRandom, type SeededRandom } from './seeded-random.ts'
import { startTestSshd } from './test-sshd.ts'

const execute = promisify(execFile)

/** `missed`: there was nothing to break; `run`: a run was hit that works, and can't go on. */
export type Hit = 'missed' | 'hit' | 'run'

/** A machine with a runner, and what is between it and the service, in which all can break. */
export interface RunnerWorld extends AsyncDisposable {
  readonly dataDir: string
  /** The home of the machine there. */
  readonly home: string
  readonly repository: TestRepository
  readonly random: SeededRandom
  /** What can break besides the service. */
  readonly kinds: readonly string[]
  /** Those that no run outlives which works at that time. */
  readonly endsRuns: ReadonlySet<string>
  /** Those by which a run may fail, and what it says then. */
  readonly failures: ReadonlyMap<string, RegExp>
  /** Makes the runner known to the service. */
  connect(app: KillableApp): Promise<RunnerId>
  /** Breaks one of `kinds`, and mends what does not mend itself. `startAgain` waits for the run's end and starts it once more. */
  hit(kind: string, startAgain: () => Promise<void>): Promise<Hit>
  /** Another service has taken the place of the first. */
  restarted(app: KillableApp): void
  /** How long after the last work of an agent its run can still be hit, in milliseconds. */
  readonly endMs: number
  /** What still works for a task there. */
  works(): Promise<readonly string[]>
  /** Removes the runner. */
  end(app: KillableApp): Promise<void>
  /** What is left of it once it is removed. */
  left(): Promise<readonly string[]>
}

export async function createGround(made: AsyncDisposableStack, seed: number) {
  const folder = async (name: string) => {
    const path = await mkdtemp(join(tmpdir(), name))
    made.defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
    return path
  }
  const dataDir = await folder('copse-kill-runner-')
  const home = await folder('copse-far-')
  made.defer(() => killIn(home))
  const repository = made.use(await createTestRepository())
  return { dataDir, home, repository, random: seededRandom(seed) }
}

/** A machine that is reached over SSH. */
export async function createSshWorld(seed: number): Promise<RunnerWorld> {
  await using made = new AsyncDisposableStack()
  const ground = await createGround(made, seed)
  const { home, random } = ground
  const link = made.use(createBadLink())
  const server = made.use(await startTestSshd(home, (port) => link.to(port)))
  const owned = made.move()
  let runner_id = '' as RunnerId
  const folder = (): string => join(home, '.copse-runner', runner_id)
  return {
    ...ground,
    kinds: ['runner', 'link', 'slow'],
    endsRuns: new Set(['runner']),
    endMs: 2_500,
    failures: new Map(),
    connect: async ({ client }) => {
      const config = { host: 'far', ssh_config: server.ssh_config }
      runner_id = (await client.call('runners.create', { name: 'Far', kind: 'ssh', config })).id as RunnerId
      return runner_id
    },
    hit: async (kind) => {
      if (kind === 'link') link.cut()
      if (kind === 'slow') link.hold(random.between(200, 3_000))
      const pid = async () => Number(await readFile(join(ownFolder(folder()), 'pid'), 'utf8').catch(() => ''))
      return kind !== 'runner' || kill(await pid()) ? 'hit' : 'missed'
    },
    restarted: () => undefined,
    works: () => worksBelow(folder(), ownFolder(folder())),
    end: async ({ client }) => void (await client.call('runners.delete', { runner_id })),
    left: () => leftOf(server.ssh_config, ownFolder(folder())),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** How long what is between a machine and the service stays bad, in milliseconds. */
const badMs = 3_000
const hourMs = 3_600_000

/** A machine that connects from its side, by HTTP; its clock is right, or off by an hour. */
export async function createDaemonWorld(seed: number): Promise<RunnerWorld> {
  await using made = new AsyncDisposableStack()
  const ground = await createGround(made, seed)
  const { home, random } = ground
  const disk = join(home, 'disk')
  const folder = join(disk, 'runner')
  await mkdir(disk)
  const isSmall = await mountSmall(made, disk)
  let url = ''
  const door = made.use(await startLossyDoor(() => url))
  const offset = random.pick([0, hourMs, -hourMs])
  let child: ChildProcessWithoutNullStreams | null = null
  const start = (): void => {
    const clock = pathToFileURL(join(projectRoot, 'test', 'helpers', 'shifted-clock.ts'))
    const args = ['runner', '--url', door.url, '--token-file', join(home, 'token'), '--folder', folder]
    const env = { HOME: home, NODE_OPTIONS: `--import ${clock.href}`, COPSE_TEST_CLOCK_OFFSET_MS: String(offset) }
    child = startSvc(args, { cwd: home, env })
    child.stdout.resume()
    child.stderr.resume()
  }
  const stop = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  made.defer(() => stop('SIGKILL'))
  const owned = made.move()
  let runner_id = '' as RunnerId
  return {
    ...ground,
    kinds: ['runner', 'link', 'slow', 'answer', 'twice', 'order', ...(isSmall ? ['disk'] : [])],
    endsRuns: new Set(['runner']),
    endMs: 2_500,
    failures: new Map([['disk', /disk|space/i]]),
    connect: async (app) => {
      url = app.url
      const { daemon, token } = await app.client.call('daemons.create', { name: 'Far' })
      await writeFile(join(home, 'token'), `${token}\n`)
      start()
      const known = async () => (await app.client.call('runners.list', {})).items.some(({ kind }) => kind === 'daemon')
      await app.eventually(known, (isKnown) => isKnown)
      runner_id = daemon.id as string as RunnerId
      return runner_id
    },
    hit: async (kind) => {
      if (kind === 'runner') {
        await stop('SIGKILL')
        start()
      } else if (kind === 'disk') await fill(disk, random.between(200, badMs))
      else await worsen(door, kind, random)
      return 'hit'
    },
    restarted: (app) => {
      url = app.url
    },
    works: () => worksBelow(folder, folder),
    end: async ({ client }) => {
      await stop('SIGTERM')
      await client.call('runners.delete', { runner_id })
    },
    left: () => leftOf(disk, folder),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function worsen(door: LossyDoor, kind: string, random: SeededRandom): Promise<void> {
  const { loses, repeats, holds } = door
  if (kind === 'link') door.close()
  if (kind === 'slow') {
    const until = performance.now() + random.between(200, badMs)
    door.holds = () => Math.max(0, until - performance.now())
  }
  if (kind === 'order') door.holds = () => random.between(0, badMs / 2)
  if (kind === 'answer') door.loses = () => random.chance(0.5)
  if (kind === 'twice') door.repeats = () => random.chance(0.5)
  await setTimeout(kind === 'link' ? random.between(0, badMs) : badMs)
  Object.assign(door, { loses, repeats, holds })
  door.open()
}

/** Makes a folder a small disk of its own, where the system lets us. */
async function mountSmall(made: AsyncDisposableStack, folder: string): Promise<boolean> {
  const mounted = await execute('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder]).catch(() => null)
  if (mounted === null) return false
  made.defer(async () => void (await execute('umount', ['--lazy', folder]).catch(() => null)))
  return true
}

async function fill(disk: string, ms: number): Promise<void> {
  const ballast = join(disk, 'ballast')
  await execute('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']).catch(() => null)
  await setTimeout(ms)
  await rm(ballast, { force: true })
}

/** What works in the folders of tasks below a runner's folder, and the jobs that are not over in that of its program. */
async function worksBelow(folder: string, own: string): Promise<readonly string[]> {
  const programs = processesIn([join(folder, 'tasks')]).map(({ command }) => command)
  return [...programs, ...(await readdir(join(own, 'jobs')).catch(() => []))]
}

/** The programs that know a runner by this word, and the socket for its links. */
async function leftOf(word: string, folder: string): Promise<readonly string[]> {
  const sockets = (await readdir(folder).catch(() => [])).filter((name) => name === 'link.sock')
  return [...programsWith(word).map(({ words }) => words.join(' ')), ...sockets]
}
