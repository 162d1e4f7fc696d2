import { basename } from 'node:path'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { RunnerCheckStep, SshConfig } from '../../src-shared/contract/runners.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { checkContainerRunner } from '../containers/check-runner.ts'
import type { ContainerConfig } from '../containers/container-config.ts'
import { removeLeftContainers } from '../containers/leftovers.ts'
import type { Place, SharedParts } from '../ports/place.ts'
import { RunnerUnreachableError, type RunnerKinds } from '../ports/runner-kinds.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'
import { createContainerPlace } from './container-place.ts'
import { createRemotePlace, type Elsewhere } from './remote/remote-place.ts'
import { createSshRunner, type SshRunner } from './ssh/ssh-runner.ts'

/** A start waits no longer for an engine that does not answer. */
const tidyLimitMs = 10_000

/** Returns what this service can do with runners. */
export function createRunnerKinds(here: Place, shared: SharedParts, elsewhere: Elsewhere): RunnerKinds {
  const { dataDir, log } = shared
  const made: AsyncDisposable[] = []
  const links = new Map<RunnerId, { readonly of: string; readonly link: SshRunner }>()
  const linkTo = (runner: RunnerRecord, config: SshConfig): SshRunner => {
    const of = JSON.stringify(config)
    const known = links.get(runner.id)
    if (known?.of === of) return known.link
    void known?.link.close()
    const link = createSshRunner({ ...elsewhere, runner_id: runner.id, config })
    links.set(runner.id, { of, link })
    return link
  }
  return {
    check: async (runner, options) => {
      if (runner.kind === 'here') return await checkHere(here, options)
      if (isSsh(runner)) {
        const link = linkTo(runner, runner.config)
        const steps = await link.check({ ...options, agents: await agentPrograms(here, options) })
        if (steps.every(({ ok }) => ok)) link.keep()
        return steps
      }
      const container = containerOf(runner)
      if (container === null) return [notCarried]
      const agents = await agentPrograms(here, options)
      return await checkContainerRunner(container, { ...options, dataDir, apiUrl: shared.apiUrl(), agents })
    },
    place: (runner) => {
      if (runner.kind === 'here') return here
      if (isSsh(runner)) {
        linkTo(runner, runner.config).keep()
        return createRemotePlace({ ...elsewhere, here, runner })
      }
      const config = containerOf(runner)
      if (config === null) throw new RunnerUnreachableError(`This version of Copse can’t use ${runner.name}.`)
      const place = createContainerPlace({ ...shared, here, runner: { id: runner.id, name: runner.name, config } })
      made.push(place)
      return place
    },
    tidy: async (runners) => {
      const engines = new Set(runners.flatMap((runner) => containerOf(runner) ?? []).map(({ engine }) => engine))
      const signal = AbortSignal.timeout(tidyLimitMs)
      const tidied = [...engines].map((engine) => removeLeftContainers({ engine }, { dataDir, signal, log }))
      for (const one of await Promise.allSettled(tidied))
        if (one.status === 'rejected') log.warn({ err: one.reason }, 'left containers could not be removed')
    },
    end: async (runner, options) => {
      // The containers of a runner have ended with their runs.
      if (!isSsh(runner)) return
      const link = linkTo(runner, runner.config)
      links.delete(runner.id)
      await link.close()
      await link.end(options)
    },
    close: async () => {
      await Promise.all([
        ...made.map((place) => place[Symbol.asyncDispose]()),
        ...[...links.values()].map(({ link }) => link.close()),
      ])
    },
  }
}

/** Returns how the containers of a runner are made; null if it has none. */
function containerOf({ kind, config }: RunnerRecord): ContainerConfig | null {
  if (kind !== 'container' || config === null || !('image' in config) || config.image === undefined) return null
  const { engine, image, cpus, memory_mb, network, mounts, setup } = config
  return {
    engine: engine as ContainerConfig['engine'],
    image,
    network,
    cpus,
    memory_mb,
    setup,
    ...(mounts && { mounts: { read: mounts.read ?? [], write: mounts.write ?? [] } }),
  }
}

const isSsh = (runner: RunnerRecord): runner is RunnerRecord & { readonly config: SshConfig } =>
  runner.kind === 'ssh' && runner.config !== null && 'host' in runner.config

const notCarried: RunnerCheckStep = {
  name: 'reach',
  ok: false,
  message: "This version of Copse can't use runners of this type.",
  fix: null,
}

/** Returns the names of the agents' programs here, which are looked for on a runner. */
async function agentPrograms({ runs }: Place, options: Cancellable): Promise<readonly string[]> {
  // What tells no version is a shell, which every machine has.
  return (await runs.detect(options)).flatMap(({ path, version }) =>
    path === null || version === null ? [] : basename(path),
  )
}

async function checkHere({ runs }: Place, options: Cancellable): Promise<readonly RunnerCheckStep[]> {
  const installed = (await runs.detect(options)).filter((agent) => agent.installed).map(({ name }) => name)
  return [
    { name: 'reach', ok: true, message: 'Copse runs on this machine.', fix: null },
    installed.length > 0
      ? { name: 'agents', ok: true, message: `Found ${installed.join(', ')}.`, fix: null }
      : { name: 'agents', ok: false, message: 'No agent is installed.', fix: 'Install one, such as Claude Code.' },
  ]
}
