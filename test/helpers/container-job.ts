import { delimiter } from 'node:path'
import type { ContainerConfig } from '../../src-main/containers/container-config.ts'
import { createContainerPlace } from '../../src-main/places/container-place.ts'
import { createCarriedPorts } from '../../src-main/places/remote/carried-ports.ts'
import { portsFrom } from '../../src-main/workspaces/rules/port-ranges.ts'
import type { Place, Places, SharedParts } from '../../src-main/ports/place.ts'
import { findTestEngine, type TestEngine } from './container-engine.ts'
import { startJob, type Job } from './job.ts'
import { present } from './present.ts'

/** Returns the engine with its client on `PATH`; null, with the reason on the console, if there is none. */
export async function useTestEngine(): Promise<TestEngine | null> {
  const found = await findTestEngine()
  if (typeof found === 'string') {
    console.warn(`left out: ${found}`)
    return null
  }
  if (found.path !== '') process.env['PATH'] = `${found.path}${delimiter}${process.env['PATH'] ?? ''}`
  return found
}

export const runnerConfig = ({ engine, image }: TestEngine, more: Partial<ContainerConfig> = {}): ContainerConfig => ({
  engine,
  image,
  network: 'open',
  ...more,
})

/** A job whose tasks are all in containers. */
export interface ContainerJob extends Job {
  readonly place: Place
}

/** Starts a job on a runner with this configuration. */
export async function startContainerJob(
  config: ContainerConfig,
  options: Parameters<typeof startJob>[0] = {},
): Promise<ContainerJob> {
  let place: ReturnType<typeof createContainerPlace> | undefined
  const places = (here: Place, shared: SharedParts): Places => {
    const made = createContainerPlace({
      here,
      ...shared,
      ports: createCarriedPorts({ log: shared.log, portsFrom }),
      runner: { id: 'box', name: 'Box', config },
    })
    place = made
    return { here, of: () => made, at: () => made, scripts: () => made.scripts, all: () => [here, made] }
  }
  const job = await startJob({ ...options, places })
  return {
    ...job,
    get place() {
      return present(place)
    },
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      await place?.[Symbol.asyncDispose]()
    },
  }
}
