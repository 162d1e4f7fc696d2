import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { ensureBuilt } from './built.ts'
import { startJob, type Job } from './job.ts'
import { killIn } from './processes-in.ts'
import { startTestSshd, type TestSshd } from './test-sshd.ts'

export interface SshJob extends AsyncDisposable {
  readonly job: Job
  readonly server: TestSshd
  /** The home of the machine there. */
  readonly home: string
  readonly runner_id: string
}

/** A service and a machine that it reaches by ssh alone. */
export async function startSshJob({
  path,
  ownNetwork,
  ...options
}: { readonly path?: string; readonly ownNetwork?: boolean } & Parameters<typeof startJob>[0] = {}): Promise<SshJob> {
  await ensureBuilt()
  await using made = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'copse-far-'))
  made.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  // The runner there outlives the service.
  made.defer(() => killIn(home))
  const server = made.use(await startTestSshd(home, undefined, path, ownNetwork))
  const job = made.use(await startJob(options))
  const { client } = job.running
  const config = { host: 'far', ssh_config: server.ssh_config }
  const { id: runner_id } = await client.call('runners.create', { name: 'Far', kind: 'ssh', config })
  await job.running.eventually(
    () => client.call('runners.get', { runner_id }),
    ({ state }) => state === 'ready',
  )
  await job.settings({ runner_ids: [runner_id as RunnerId] })
  const owned = made.move()
  return { job, server, home, runner_id, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Makes a folder of this machine's programs without some, for a PATH that has no others. */
export async function programsWithout(folder: string, names: readonly string[]): Promise<string> {
  const at = join(folder, 'programs')
  await mkdir(at, { recursive: true })
  for (const from of ['/usr/bin', '/bin', '/usr/sbin'])
    for (const name of await readdir(from))
      if (!names.includes(name)) await symlink(join(from, name), join(at, name)).catch(() => undefined)
  return at
}
