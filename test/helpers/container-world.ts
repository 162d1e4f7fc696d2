import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { processLabel } from '../../src-main/containers/container-args.ts'
import { installationOf } from '../../src-main/containers/ground.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { TestEngine } from './container-engine.ts'
import { containersOf } from './containers-of.ts'
import { startEngineService } from './engine-service.ts'
import { processesIn } from './processes-in.ts'
import { allPrograms, kill, programsWith } from './programs.ts'
import { createGround, type Hit, type RunnerWorld } from './runner-world.ts'

const execute = promisify(execFile)

/** What a run says whose container, client, engine or agent was killed. */
const killed = /./

/** Containers of this machine; in half of the worlds their engine is a program that can be killed too. */
export async function createContainerWorld({ engine, image }: TestEngine, seed: number): Promise<RunnerWorld> {
  await using made = new AsyncDisposableStack()
  const ground = await createGround(made, seed)
  const { dataDir, home, random } = ground
  const programs = (name: string) => engineProgramsOf(name, join(dataDir, 'workspaces'))
  const containers = () => containersOf({ engine, image, path: '' }, dataDir)
  made.defer(async () => {
    for (const id of await containers()) await execute(engine, ['rm', '--force', id]).catch(() => null)
  })
  const service = engine === 'podman' && seed % 2 === 1 ? made.use(await startEngineService()) : null
  made.defer(() => programs('crun').forEach(kill))
  const owned = made.move()
  let service_pid: number | undefined
  let runner_id = '' as RunnerId
  // A client of an engine that is a program waits for the end of a container, whatever becomes of what holds it.
  const kinds = ['container', 'client', 'agent', ...(service === null ? ['conmon', 'crun'] : ['engine'])]
  const all = ['service', ...kinds]
  // An engine that is killed while it creates a container leaves that: it runs nothing, and no one can find it by a label.
  const isCreated = (command: string): boolean => service !== null && /^\S*crun\b.* create /.test(command)
  const works = async (): Promise<readonly string[]> => [
    ...(await containers()),
    ...(programs('conmon').length > 0 ? ['conmon'] : []),
    ...processesIn([join(dataDir, 'workspaces')])
      .map(({ command }) => command)
      .filter((command) => !isCreated(command)),
  ]
  const killOne = (kind: string) => async (): Promise<boolean> => {
    if (kind === 'conmon' || kind === 'crun') return programs(kind).map(kill).some(Boolean)
    if (kind === 'client') return clientsOf(service_pid, dataDir).map(kill).some(Boolean)
    if (kind === 'agent') return agentsIn(join(dataDir, 'workspaces')).map(kill).some(Boolean)
    const ids = await containersOf({ engine, image, path: '' }, dataDir, [processLabel])
    if (ids.length === 0) return false
    const problem = await execute(engine, ['kill', '--signal', 'KILL', ...ids]).catch((error: Error) => error.message)
    return typeof problem !== 'string' || !/only kill running|is not running/.test(problem)
  }
  return {
    ...ground,
    kinds,
    // One that is back at once is asked for the end of a run by the client, which goes on.
    endsRuns: new Set(['service']),
    endMs: 500,
    failures: new Map(all.map((kind) => [kind, killed])),
    connect: async ({ client, pid }) => {
      service_pid = pid
      const config = { engine: service?.url ?? engine, image, network: 'open' as const, mounts: { write: [home] } }
      runner_id = (await client.call('runners.create', { name: 'Box', kind: 'container', config })).id as RunnerId
      return runner_id
    },
    hit: async (kind, startAgain) => {
      if (kind === 'engine') {
        await service?.kill(random.between(0, 3_000))
        return 'hit'
      }
      if (kind !== 'crun') return await killOnceThere(killOne(kind))
      // It works for a moment only, while a container is started.
      if ((await killOnceThere(killOne('container'))) === 'missed') return 'missed'
      const killed = killOnceThere(killOne('crun'))
      await startAgain()
      return await killed
    },
    restarted: ({ pid }) => {
      service_pid = pid
    },
    works,
    end: async ({ client }) => void (await client.call('runners.delete', { runner_id })),
    left: async () => [
      ...(await works()),
      ...programsWith(installationOf(dataDir)).map(({ words }) => words.join(' ')),
    ],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** How long a run may take until it has a container, in milliseconds. */
const startMs = 5_000

/** Tries until there was something to kill, if it is there before long. */
async function killOnceThere(attempt: () => Promise<boolean>): Promise<Hit> {
  const until = performance.now() + startMs
  while (performance.now() < until) {
    if (await attempt()) return 'run'
    await setTimeout(5)
  }
  return 'missed'
}

/** The engine's programs of this name that hold or start a container with a folder below this one. */
function engineProgramsOf(name: string, folder: string): readonly number[] {
  return allPrograms().flatMap(({ pid, words }) => {
    const [bundle] = words.flatMap((word, at) => (word === '-b' || word === '--bundle' ? (words[at + 1] ?? []) : []))
    if (bundle === undefined || !words[0]?.endsWith(name)) return []
    return holds(join(bundle, 'config.json'), folder) ? [pid] : []
  })
}

function holds(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8').includes(text)
  } catch {
    return false
  }
}

/** The clients that this service has for runs, without those of its checks and what a killed one has left. */
const clientsOf = (service: number | undefined, dataDir: string): readonly number[] =>
  programsWith(installationOf(dataDir)).flatMap(({ pid, words }) =>
    words.some((word) => word.startsWith(`${processLabel}=`)) && parentOf(pid) === service ? [pid] : [],
  )

function parentOf(pid: number): number | null {
  try {
    return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    // It has ended.
    return null
  }
}

/** The commands of runs, apart from the first program of their container. */
const agentsIn = (folder: string): readonly number[] =>
  processesIn([folder]).flatMap(({ pid, command }) => (/^\S*sh -c /.test(command) ? [pid] : []))
