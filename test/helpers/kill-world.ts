import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createTestRepository, type TestRepository } from './git-repository.ts'
import type { AgentId } from '../../src-shared/contract/ids.ts'
import { agentCommands, type AgentKind } from './kill-agents.ts'
import { addHoldings, lostOf, noHoldings, type Holdings } from './kill-inventory.ts'
import { unlessDead, workUntilDeath, type Office } from './kill-people.ts'
import { killWhileStarting, startKillableApp, type KillableApp } from './killable-app.ts'
import { processesIn, type FoundProcess } from './processes-in.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A repository in use, a data folder, and everything ever seen in both. */
export interface World extends AsyncDisposable {
  readonly repository: TestRepository
  readonly dataDir: string
  readonly held: Holdings
  readonly random: SeededRandom
  /** The person's uncommitted files in the checkout, by path. */
  readonly own: Readonly<Record<string, string>>
}

const own = { 'notes.txt': 'notes\nof mine\n', 'scratch.txt': 'not tracked\n', 'local.tmp': 'ignored\n' }
const desks = 20
export const appOptions = { cleanupDelaySeconds: 1 }
export const workspacesOf = ({ dataDir }: Pick<World, 'dataDir'>): string => join(dataDir, 'workspaces')

export async function createWorld(random: SeededRandom): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-kill-'))
  const tracked = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`tracked/${n}.txt`, `tracked ${n}\n`]))
  const files = { ...tracked, '.gitignore': '*.tmp\n', 'notes.txt': 'notes\n', 'shared.txt': 'shared\n' }
  const repository = await createTestRepository({ files })
  await repository.write(own)
  return {
    repository,
    dataDir,
    random,
    own,
    held: noHoldings(),
    [Symbol.asyncDispose]: async () => {
      // After a failure: what the service should have ended.
      killAll([repository.path, dataDir])
      await repository[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The project with its agents, all idle. */
export async function openOffice({ client }: KillableApp, { repository, random }: World): Promise<Office> {
  const { id: project_id } = await client.call('projects.create', { name: 'Kill', repo_path: repository.path })
  await client.call('projects.update_settings', {
    project_id,
    merge_strategy: random.pick(['merge', 'squash', 'rebase']),
    max_concurrent_executions: desks,
    setup_commands: ['echo ready > setup.tmp'],
    copy_files: ['local.tmp'],
  })
  const agents = new Map<AgentKind, AgentId>()
  for (const [kind, command] of agentCommands) {
    const { id } = await client.call('agents.create', { name: kind, executor: 'command', config: { command } })
    agents.set(kind, id)
  }
  return { project_id, agents, random, desks: Array<null>(desks).fill(null), tasks: new Set(), done: new Set() }
}

/** A death, and what was left running. */
export interface Death {
  readonly after_events: number
  readonly how: 'service' | 'machine' | 'twice'
  readonly left: readonly FoundProcess[]
}

/**
 * Lets everyone work for a random while, then kills the service: alone, with all its processes (as when the machine
 * stops), or alone and its next start too. Records what is there then.
 */
export async function workAndDie(app: KillableApp, world: World, office: Office): Promise<Death> {
  const { random, repository, dataDir, held } = world
  // Until there is something to lose.
  const firstWork = held.commits.size === 0 ? 200 : 0
  const how = random.pick(['service', 'service', 'service', 'machine', 'twice'] as const)
  const after = {
    events: firstWork + Math.round(random.between(1, random.chance(0.4) ? 60 : 350)),
    ms: random.between(0, 300),
  }
  const working = workUntilDeath(app.client, office)
  const committing = commitUntilDeath(app, world)
  // If a failure stops someone, the test fails with that.
  await Promise.race([moment(app, after), Promise.all([working, committing])])
  await app.kill()
  // Leftovers of the person's own git are theirs, so it ends first.
  await Promise.all([working, committing])
  if (how === 'machine') killAll([dataDir, repository.path])
  await addHoldings(held, repository, workspacesOf(world))
  const left = processesIn([dataDir, repository.path])
  if (how === 'twice') await killWhileStarting(dataDir, random.between(50, 800), appOptions)
  return { after_events: after.events, how, left }
}

/** Resolves after this many events and then milliseconds; does not wait for a quiet service. */
async function moment({ client }: KillableApp, { events, ms }: { readonly events: number; readonly ms: number }) {
  const long = AbortSignal.timeout(15_000)
  let left = events
  for await (const _ of client.events({}, null, long)) if ((left -= 1) <= 0) break
  await setTimeout(ms)
}

/** Sends SIGKILL to everything that works in these folders, until nothing does. */
function killAll(folders: readonly string[]): void {
  for (let found = processesIn(folders); found.length > 0; found = processesIn(folders)) {
    for (const { pid } of found) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
      }
    }
  }
}

/** The person continues to work in the checkout, and commits there. */
async function commitUntilDeath({ client, exited }: KillableApp, { repository, random }: World): Promise<void> {
  const stop = new AbortController()
  void exited.then(() => stop.abort())
  let [number, left] = [0, 10]
  try {
    for await (const _ of client.events({}, null, stop.signal)) {
      if ((left -= 1) > 0) continue
      left = Math.round(random.between(10, 60))
      const path = `person/${Date.now()}-${(number += 1)}.txt`
      await repository.write({ [path]: `${path}\n` })
      await repository.git(['add', '--', path]).catch(refusedByLock)
      await repository.git(['commit', '-qm', 'Mine', '--', path]).catch(refusedByLock)
    }
  } catch (error) {
    unlessDead(error)
  }
}

/** While a merge moves the checkout, and until the next start after a death in the middle, git refuses the person. */
function refusedByLock(error: unknown): void {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  if (!/index\.lock|cannot lock ref|did not match any file/.test(text)) throw error
}

/** A start after a death, and everything that must hold soon afterwards. */
export async function startAgain(world: World, death: Death): Promise<KillableApp> {
  const app = await startKillableApp(world.dataDir, 'plain', appOptions)
  try {
    await app.eventually(
      () => troubleOf(world, death),
      (trouble) => trouble.length === 0,
    )
    return app
  } catch (error) {
    await app.kill()
    throw error
  }
}

/** The tasks that are done although their target lacks their work. */
export async function notMerged({ repository }: World, { done }: Office): Promise<readonly string[]> {
  const there = (await repository.git(['ls-tree', '--name-only', 'main:tasks'])).split('\n')
  return [...done].filter((task_id) => !there.includes(task_id))
}

/** The current faults of the world; some only last while a merge or a clean-up runs. */
export async function troubleOf(world: World, death: Pick<Death, 'left'> | null): Promise<readonly string[]> {
  const { repository, dataDir, held } = world
  const lost = await lostOf(held, repository, workspacesOf(world))
  const alive = new Map(processesIn([dataDir, repository.path]).map((one) => [one.pid, one]))
  const left = (death?.left ?? []).filter(({ pid, started }) => alive.get(pid)?.started === started)
  return [
    ...lost.map((one) => `lost: ${one}`),
    ...(await brokenIn(repository)),
    ...(await strangeIn(world)),
    ...left.map(({ pid, command }) => `still there: ${pid} ${command.slice(0, 200)}`),
  ]
}

async function brokenIn(repository: TestRepository): Promise<readonly string[]> {
  try {
    const said = await repository.git(['fsck', '--full', '--no-dangling', '--no-progress'])
    return said === '' ? [] : [`fsck: ${said}`]
  } catch (error) {
    return [`fsck: ${error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)}`]
  }
}

/** Everything in the checkout that is neither its branch's nor the person's. */
async function strangeIn({ repository }: World): Promise<readonly string[]> {
  const strange: string[] = []
  for (const [path, text] of Object.entries(own)) {
    const found = await readFile(join(repository.path, path), 'utf8').catch(String)
    if (found !== text) strange.push(`checkout: ${path} holds ${JSON.stringify(found)}`)
  }
  const status = await repository.git(['status', '--porcelain', '-uall', '-z'], { env: { GIT_OPTIONAL_LOCKS: '0' } })
  const expected = new Set([' M notes.txt', '?? scratch.txt'])
  for (const line of status.split('\0').filter(Boolean)) {
    const path = line.slice(3)
    if (expected.delete(line)) continue
    const isMine = path.startsWith('person/') && ['A ', '??'].includes(line.slice(0, 2))
    const text = isMine ? await readFile(join(repository.path, path), 'utf8').catch(String) : null
    if (text !== `${path}\n`) strange.push(`checkout: ${line}`)
  }
  return [...strange, ...[...expected].map((line) => `checkout: not ${line}`)]
}
