import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../platform/logging/log.ts'
import { sweepTemporary } from '../platform/process/run-folders.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { installationLabel } from './container-args.ts'
import type { ContainerConfig } from './container-config.ts'
import { removeWorktreeImages } from './devcontainer/old-images.ts'
import { askEngine, findEngines, lastWords, NoEngine, type EngineClient } from './engine-client.ts'
import { installationOf } from './ground.ts'

/** Removes every container that a killed service left; nothing of it runs yet when a service starts. */
export async function removeLeftContainers(
  { engine }: Pick<ContainerConfig, 'engine'>,
  { dataDir, ...options }: Cancellable & { readonly dataDir: string; readonly log: Logger },
): Promise<void> {
  let clients: readonly EngineClient[]
  try {
    clients = findEngines(engine)
  } catch (error) {
    if (error instanceof NoEngine) return
    throw error
  }
  const installation = installationOf(dataDir)
  for (const client of clients) {
    await removeContainers(client, { [installationLabel]: installation }, options)
    await removeWorktreeImages(client, installation, { cwd: null, image: null }, options)
  }
  await sweepTemporary()
}

/** Milliseconds between two attempts to reach an engine that does not answer. */
const againMs = 500

/**
 * Ends and removes the containers of an installation that have all these labels; harmless if there are none. `waitMs`:
 * how long it tries again, 0 by default, since an engine that is started again leaves its containers running.
 */
export async function removeContainers(
  client: EngineClient,
  labels: Readonly<Record<string, string>> & { readonly [installationLabel]: string },
  { signal, log, waitMs = 0 }: Cancellable & { readonly log: Logger; readonly waitMs?: number },
): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    const problem = await tryToRemove(client, labels, { signal })
    if (problem === null) return
    if (performance.now() >= until)
      return log.warn({ labels, problem }, 'containers could not be looked for or removed')
    await delay(againMs, undefined, { signal })
  }
}

/** Returns what the engine said where it could not; null if nothing is left. */
async function tryToRemove(
  client: EngineClient,
  labels: Readonly<Record<string, string>>,
  { signal }: Cancellable,
): Promise<string | null> {
  const filters = Object.entries(labels).flatMap(([name, value]) => ['--filter', `label=${name}=${value}`])
  const list = await askEngine(client, ['ps', '--all', '--quiet', '--no-trunc', ...filters], { signal })
  if (list.exit_code !== 0) return lastWords(list)
  const ids = list.stdout.split('\n').filter((line) => /^[0-9a-f]{12,}$/.test(line))
  if (ids.length === 0) return null
  await askEngine(client, ['kill', '--signal', 'KILL', ...ids], { signal })
  const removed = await askEngine(client, ['rm', '--force', ...ids], { signal })
  // One that was killed is removed by its engine too.
  const isGone =
    removed.exit_code === 0 || /no such container|no container with|already in progress/i.test(removed.stderr)
  return isGone ? null : lastWords(removed)
}
