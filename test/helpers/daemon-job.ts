import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src-main/ports/clock.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { startSvc } from '../integration/cli/svc-process.ts'
import { startJob, type Job } from './job.ts'
import { startLossyDoor, type LossyDoor } from './lossy-door.ts'

export interface DaemonJob extends AsyncDisposable {
  readonly job: Job
  /** The folder of the machine. */
  readonly home: string
  readonly daemon_id: string
  readonly runner_id: RunnerId
  readonly token: string
  /** Starts `svc runner` there. */
  start(...more: readonly string[]): ChildProcessWithoutNullStreams
  /** What its calls pass through. */
  readonly door: LossyDoor
  isReady(): Promise<unknown>
}

/** A service, and a machine with no more than its address and a token. */
export async function startDaemonJob(clock?: Clock): Promise<DaemonJob> {
  await using made = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'copse-daemon-'))
  made.defer(() => rm(home, { recursive: true, force: true }))
  const job = made.use(await startJob(clock && { clock }))
  const door = made.use(await startLossyDoor(() => job.running.url))
  const { daemon, token } = await job.running.client.call('daemons.create', { name: 'Desk' })
  await writeFile(join(home, 'token'), `${token}\n`)
  const runner_id = daemon.id as string as RunnerId
  const started: ChildProcessWithoutNullStreams[] = []
  made.defer(async () => {
    for (const child of started) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  })
  const owned = made.move()
  return {
    job,
    home,
    daemon_id: daemon.id,
    runner_id,
    token,
    door,
    start: (...more) => {
      const args = [
        'runner',
        '--url',
        door.url,
        '--token-file',
        join(home, 'token'),
        '--folder',
        join(home, 'runner'),
        ...more,
      ]
      const child = startSvc(args, { cwd: home, env: { HOME: home } })
      child.stdout.resume()
      started.push(child)
      return child
    },
    isReady: () =>
      job.running.eventually(
        () => job.running.client.call('runners.list', {}),
        ({ items }) => items.some(({ id, state }) => id === runner_id && state === 'ready'),
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
