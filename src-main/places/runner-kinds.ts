import { basename } from 'node:path'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { KubernetesConfig, RunnerCheckStep, SshConfig } from '../../src-shared/contract/runners.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { checkContainerRunner } from '../containers/check-runner.ts'
import type { ContainerConfig } from '../containers/container-config.ts'
import { removeLeftContainers } from '../containers/leftovers.ts'
import type { Place, SharedParts } from '../ports/place.ts'
import { RunnerUnreachableError, type RunnerKinds } from '../ports/runner-kinds.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'
import { createContainerPlace } from './container-place.ts'
import { createRemotePlace, type Elsewhere } from './remote/remote-place.ts'
import type { CarriedJob } from './remote/start-job.ts'
import { createSshRunner, type SshRunner } from './ssh/ssh-runner.ts'
import { createDaemonContacts } from './daemon-contacts.ts'
import { installationOf } from '../containers/ground.ts'
import { checkKubernetesRunner } from './kubernetes/check-cluster.ts'
import { createKubernetesRunner, type KubernetesRunner } from './kubernetes/kubernetes-runner.ts'

/** A start waits no longer for an engine that does not answer. */
const tidyLimitMs = 10_000

/** Returns what this service can do with runners. */
export function createRunnerKinds(here: Place, shared: SharedParts, elsewhere: Elsewhere): RunnerKinds {
  const { dataDir, log } = shared
  const made: AsyncDisposable[] = []
  const contacts = createDaemonContacts(elsewhere)
  let onReached: (runner_id: RunnerId) => void = () => undefined
  const links = byConfig<SshConfig, SshRunner>((runner_id, config) =>
    createSshRunner({ ...elsewhere, runner_id, config, onReached: () => onReached(runner_id) }),
  )
  const linkTo = links.of
  const clusters = byConfig<KubernetesConfig, KubernetesRunner>((runner_id, config) =>
    createKubernetesRunner({ ...elsewhere, runner_id, config, installation: installationOf(dataDir) }),
  )
  return {
    check: async (runner, options) => {
      if (runner.kind === 'here') return await checkHere(here, options)
      if (isSsh(runner)) {
        const link = linkTo(runner, runner.config)
        const steps = await link.check({ ...options, agents: await agentPrograms(here, options) })
        if (steps.every(({ ok }) => ok)) link.keep()
        return steps
      }
      if (runner.kind === 'daemon') return contacts.check(runner)
      if (isKubernetes(runner)) {
        const pods = clusters.of(runner, runner.config)
        return await checkKubernetesRunner(runner.config, pods, {
          ...options,
          agents: await agentPrograms(here, options),
        })
      }
      const container = containerOf(runner)
      if (container === null) return [notCarried]
      const agents = await agentPrograms(here, options)
      const hostsProblem = shared.machine.hostsProblem()
      return await checkContainerRunner(container, {
        ...options,
        dataDir,
        apiUrl: shared.apiUrl(),
        hostsProblem,
        agents,
      })
    },
    place: (runner) => {
      if (runner.kind === 'here') return here
      if (isSsh(runner)) {
        const { keep, carry } = linkTo(runner, runner.config)
        keep()
        return createRemotePlace({ ...elsewhere, here, runner, carry })
      }
      if (runner.kind === 'daemon') {
        const carry = (job: CarriedJob) => contacts.carry(runner, job)
        return createRemotePlace({ ...elsewhere, here, runner, carry })
      }
      if (isKubernetes(runner)) {
        const { carry } = clusters.of(runner, runner.config)
        const pods = { hasMachinePerJob: true, containment: podContainment }
        return createRemotePlace({ ...elsewhere, here, runner, carry, ...pods })
      }
      const config = containerOf(runner)
      if (config === null) throw new RunnerUnreachableError(`This version of Copse can’t use ${runner.name}.`)
      const own = { id: runner.id, name: runner.name, config }
      const place = createContainerPlace({ ...shared, here, ports: elsewhere.ports, runner: own })
      made.push(place)
      return place
    },
    listen: (listener) => void (onReached = listener),
    tidy: async (runners) => {
      const engines = new Set(runners.flatMap((runner) => containerOf(runner) ?? []).map(({ engine }) => engine))
      const signal = AbortSignal.timeout(tidyLimitMs)
      const tidied = [...engines].map((engine) => removeLeftContainers({ engine }, { dataDir, signal, log }))
      for (const one of await Promise.allSettled(tidied))
        if (one.status === 'rejected') log.warn({ err: one.reason }, 'left containers could not be removed')
      // A cluster may be far away, and no run waits for it. What runs in pods has been taken up by then, or is lost.
      void elsewhere.jobs.started.then(() => {
        for (const runner of runners.filter(isKubernetes))
          clusters
            .of(runner, runner.config)
            .tidy()
            .catch((error: unknown) => log.warn({ err: error }, 'left pods could not be ended'))
      })
    },
    offers: contacts.offers,
    lose: contacts.lose,
    end: async (runner, options) => {
      // Its runs have ended, but not what a check or hook of a task may still have there.
      elsewhere.jobs.lose(runner.id, `${runner.name} was removed.`)
      if (isKubernetes(runner)) {
        const pods = clusters.take(runner, runner.config)
        await pods.close()
        await pods.tidy()
      }
      if (!isSsh(runner)) return
      const link = links.take(runner, runner.config)
      await link.close()
      await link.end(options)
    },
    close: async () => {
      await Promise.all([...made.map((place) => place[Symbol.asyncDispose]()), links.close(), clusters.close()])
    },
  }
}

/** Keeps what belongs to each runner, as long as its configuration is the same. */
function byConfig<C, T extends { close(): Promise<void> }>(make: (id: RunnerId, config: C) => T) {
  const known = new Map<RunnerId, { readonly of: string; readonly made: T }>()
  const of = ({ id }: RunnerRecord, config: C): T => {
    const text = JSON.stringify(config)
    const before = known.get(id)
    if (before?.of === text) return before.made
    void before?.made.close()
    const made = make(id, config)
    known.set(id, { of: text, made })
    return made
  }
  return {
    of,
    /** Returns it, and forgets it. */
    take: (runner: RunnerRecord, config: C): T => {
      const made = of(runner, config)
      known.delete(runner.id)
      return made
    },
    close: async () => void (await Promise.all([...known.values()].map(({ made }) => made.close()))),
  }
}

/** A pod holds a run to its files; which hosts it reaches is the cluster's word. */
const podContainment: Pick<Place['containment'], 'refusal' | 'effectiveLevel'> = {
  refusal: (level) =>
    level === 'worktree_and_hosts'
      ? 'Pods don’t hold a run to a list of hosts. Choose another runner, or containment in the worktree.'
      : null,
  effectiveLevel: () => 'worktree',
}

/** Returns how the containers of a runner are made; null if it has none. */
function containerOf({ kind, config }: RunnerRecord): ContainerConfig | null {
  if (kind !== 'container' || config === null || !('engine' in config)) return null
  const { engine, image, devcontainer, cpus, memory_mb, network, mounts, setup } = config
  return {
    engine: engine as ContainerConfig['engine'],
    image,
    devcontainer,
    network,
    cpus,
    memory_mb,
    setup,
    ...(mounts && { mounts: { read: mounts.read ?? [], write: mounts.write ?? [] } }),
  }
}

const isSsh = (runner: RunnerRecord): runner is RunnerRecord & { readonly config: SshConfig } =>
  runner.kind === 'ssh' && runner.config !== null && 'host' in runner.config

const isKubernetes = (runner: RunnerRecord): runner is RunnerRecord & { readonly config: KubernetesConfig } =>
  runner.kind === 'kubernetes' && runner.config !== null && 'namespace' in runner.config

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
