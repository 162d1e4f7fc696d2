import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createExecutors } from '../../src-main/agents/create-executors.ts'
import { createScripts } from '../../src-main/hooks/scripts/run-script.ts'
import { createRemotePlace, type Elsewhere } from '../../src-main/places/remote/remote-place.ts'
import type { Place, SharedParts } from '../../src-main/ports/place.ts'
import type { RunnerKinds } from '../../src-main/ports/runner-kinds.ts'
import { createLogger } from '../../src-main/platform/logging/log.ts'
import { runRunner } from '../../src-main/runner/run-runner.ts'
import { createServiceCalls } from '../../src-main/runner/service-calls.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { startJob, type Job } from './job.ts'
import { startLossyDoor, type LossyDoor } from './lossy-door.ts'
import { projectRoot } from './project-root.ts'
import { addRunner } from './test-runners.ts'

export interface FarJob extends AsyncDisposable {
  readonly job: Job
  /** The runner's folder. */
  readonly folder: string
  readonly runner_id: RunnerId
  /** What the runner's calls pass through. */
  readonly door: LossyDoor
  /** Tells the service that the runner is gone. */
  lose(why: string): void
  /** Ends the service and starts the next one, which the runner then reaches. */
  restart(): Promise<void>
}

const log = createLogger({ level: (process.env['COPSE_TEST_LOG'] ?? 'silent') as 'silent' })

/** Kinds of which every runner but this machine is one elsewhere that is always ready; `take` is told of what they share. */
export const remoteKinds =
  (take: (elsewhere: Elsewhere) => void) =>
  (here: Place, _shared: SharedParts, elsewhere: Elsewhere): RunnerKinds => {
    take(elsewhere)
    return {
      check: () => Promise.resolve([{ name: 'reach', ok: true, message: 'It is there.', fix: null }]),
      place: (runner) => (runner.kind === 'here' ? here : createRemotePlace({ ...elsewhere, here, runner })),
      listen: () => undefined,
      tidy: () => Promise.resolve(),
      offers: () => Promise.resolve([]),
      lose: () => undefined,
      end: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }
  }

/** A service with a runner in another folder, which shares nothing with it but the address. */
export async function startFarJob(): Promise<FarJob> {
  await using made = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'copse-runner-'))
  made.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  let far: Elsewhere | undefined
  const job = made.use(
    await startJob({
      runnerKinds: remoteKinds((elsewhere) => (far = elsewhere)),
    }),
  )
  const door = made.use(await startLossyDoor(() => job.running.url))
  const { id } = await addRunner(job.running, 'Far')
  const runner_id = id as RunnerId
  const connect = (): string => far?.tokens.make(runner_id).token ?? expect.unreachable()
  let token = connect()
  const end = new AbortController()
  const running = runRunner(
    {
      service: createServiceCalls({ url: () => door.url, token: () => token }),
      folder,
      own: folder,
      runs: createExecutors(),
      scripts: createScripts(),
      program: [process.execPath, join(projectRoot, 'src-main', 'runner.ts')],
      log,
    },
    end.signal,
  )
  made.defer(async () => {
    end.abort()
    await running
  })
  await job.settings({ runner_ids: [runner_id] })
  const owned = made.move()
  return {
    job,
    folder,
    runner_id,
    door,
    lose: (why) => far?.jobs.lose(runner_id, why),
    restart: async () => {
      door.close()
      job.running = await job.running.restart()
      token = connect()
      door.open()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
