import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchV1Api, KubeConfig } from '@kubernetes/client-node'
import { expect } from 'vitest'
import { labels } from '../../src-main/places/kubernetes/job-manifest.ts'
import { ownFolder } from '../../src-main/runner/other-programs.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import { sshd } from '../fakes/git-ssh-server.ts'
import { builtFile } from '../helpers/built.ts'
import { findTestEngine } from '../helpers/container-engine.ts'
import { removeDevcontainerImages } from '../helpers/devcontainer-job.ts'
import type { RunningApp } from '../helpers/running-app.ts'
import { startTestSshd } from '../helpers/test-sshd.ts'
import { agentsFolder } from './agent-binaries.ts'
import type { AgentBench } from './agent-bench.ts'

/** With git, Node 24 and what agents are linked to. */
const image = process.env['COPSE_TEST_IMAGE'] ?? 'localhost/copse-test/base:1'
const namespace = process.env['COPSE_TEST_NAMESPACE'] ?? 'default'

type Config = OperationInput<'runners.create'>['config']

/** What a runner is started for, and what ends with it. */
interface Ground {
  readonly running: RunningApp
  readonly bench: AgentBench
  readonly made: AsyncDisposableStack
}

/** A runner of one kind with the programs of the agents. */
export interface RunnerSetup {
  readonly kind: string
  /** Why it can't be tried here; null: it can. */
  readonly missing: string | null
  /** The name of this machine there. */
  readonly host: string
  /** Whether an agent's home, and with it its session, outlives a run. */
  readonly keepsHome: boolean
  /** A command that succeeds there alone. */
  readonly isThere: string
  /** Returns it once it is ready. */
  start(ground: Ground): Promise<RunnerId>
}

const onThisMachine = { missing: null, host: '127.0.0.1', keepsHome: true }

export const runnerSetups: readonly RunnerSetup[] = [
  {
    ...onThisMachine,
    kind: 'ssh',
    missing: sshd === null ? 'no sshd' : null,
    isThere: 'pwd | grep -q /copse-far-',
    start: async ({ running, made }) => {
      const home = await folder(made)
      const server = made.use(await startTestSshd(home))
      const runner_id = await ready(running, 'ssh', { host: 'far', ssh_config: server.ssh_config })
      // Its program would stay there for hours.
      made.defer(async () => {
        const pid = await readFile(join(ownFolder(join(home, '.copse-runner', runner_id)), 'pid'), 'utf8').catch(
          () => '',
        )
        if (pid !== '') process.kill(Number(pid), 'SIGTERM')
      })
      return runner_id
    },
  },
  {
    ...onThisMachine,
    kind: 'daemon',
    isThere: 'pwd | grep -q /copse-far-',
    start: async ({ running, made }) => {
      const home = await folder(made)
      const { daemon, token } = await running.client.call('daemons.create', { name: 'Far' })
      await writeFile(join(home, 'token'), token)
      const named = ['--url', running.url, '--token-file', join(home, 'token'), '--folder', join(home, 'runner')]
      const child = spawn(process.execPath, [await builtFile('cli.js'), 'runner', ...named], {
        cwd: home,
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      made.defer(async () => {
        child.kill('SIGTERM')
        await ended
      })
      const runner_id = daemon.id as string as RunnerId
      await running.eventually(
        () => running.client.call('runners.list', {}),
        ({ items }) => items.some(({ id, state }) => id === runner_id && state === 'ready'),
      )
      return runner_id
    },
  },
  {
    ...onThisMachine,
    kind: 'container',
    isThere: '[ -e /run/.containerenv ] || [ -e /.dockerenv ]',
    start: (ground) => startContainers(ground, { image }),
  },
  {
    ...onThisMachine,
    kind: 'dev container',
    isThere: '[ -d /opt/project ]',
    start: async (ground) => {
      await ground.bench.repository.commit('Describe the tools', {
        '.devcontainer/devcontainer.json': JSON.stringify({
          build: { dockerfile: 'Dockerfile' },
          postCreateCommand: 'git --version',
          remoteEnv: { IN_DEV_CONTAINER: 'yes' },
        }),
        '.devcontainer/Dockerfile': `FROM ${image}\nRUN mkdir -p /opt/project\n`,
      })
      const found = await findTestEngine()
      if (typeof found !== 'string')
        ground.made.defer(() => removeDevcontainerImages(found.engine, ground.running.dataDir))
      return await startContainers(ground, { devcontainer: true })
    },
  },
  {
    kind: 'kubernetes',
    missing: process.env['KUBECONFIG'] === undefined ? 'no KUBECONFIG' : null,
    host: process.env['COPSE_TEST_HOST'] ?? '10.250.0.1',
    keepsHome: false,
    isThere: 'hostname | grep -q ^copse-',
    start: async ({ running, bench, made }) => {
      // The node is this machine, and has the agents and their settings.
      const folders = { agents: agentsFolder, settings: bench.env['HOME'] ?? '' }
      const named = Object.entries(folders).map(([name, path]) => ({ name, path }))
      const volumeMounts = named.map(({ name, path }) => ({ name, mountPath: path, readOnly: true }))
      const pod = {
        containers: [{ name: 'copse', imagePullPolicy: 'Never', volumeMounts }],
        volumes: named.map(({ name, path }) => ({ name, hostPath: { path } })),
      }
      const setup = [`cp -R ${folders.settings}/. "$HOME"`]
      const runner_id = await ready(running, 'kubernetes', { namespace, image, pod, setup } as Config)
      // What a test that has failed leaves.
      made.defer(async () => {
        const cluster = new KubeConfig()
        cluster.loadFromDefault()
        const labelSelector = `${labels.runner}=${runner_id}`
        const batch = cluster.makeApiClient(BatchV1Api)
        await batch.deleteCollectionNamespacedJob({ namespace, labelSelector, propagationPolicy: 'Background' })
      })
      return runner_id
    },
  },
]

async function ready(running: RunningApp, kind: 'ssh' | 'container' | 'kubernetes', config: Config): Promise<RunnerId> {
  const { client } = running
  const { id } = await client.call('runners.create', { name: 'Far', kind, config })
  const { runner } = await client.call('runners.check', { runner_id: id })
  expect(runner).toMatchObject({ state: 'ready', last_error: null })
  return id
}

async function folder(made: AsyncDisposableStack): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'copse-far-'))
  made.defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** Makes a runner of containers that have the agents of this machine. */
async function startContainers(
  { running, bench }: Ground,
  made: { readonly image: string } | { readonly devcontainer: true },
): Promise<RunnerId> {
  const found = await findTestEngine()
  if (typeof found === 'string') throw new Error(found)
  const { engine, path } = found
  if (path !== '') process.env['PATH'] = `${path}:${process.env['PATH'] ?? ''}`
  const mounts = { read: [agentsFolder], write: [bench.env['HOME'] ?? ''] }
  return await ready(running, 'container', { engine, ...made, network: 'open' as const, mounts })
}
