import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import {
  AppsV1Api,
  AuthorizationV1Api,
  CoreV1Api,
  Exec,
  KubeConfig,
  KubernetesObjectApi,
  type KubernetesObject,
  type V1Pod,
  type V1PodSpec,
  type V1Status,
} from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { rights } from '../../src-main/places/kubernetes/check-cluster.ts'
import { createClient } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { ensureBuilt } from '../helpers/built.ts'
import { projectRoot } from '../helpers/project-root.ts'
import { kubernetesFolder, parseManifests, renderChart } from '../helpers/render-chart.ts'

const hasCluster = process.env['KUBECONFIG'] !== undefined
const image = process.env['COPSE_TEST_IMAGE'] ?? 'localhost/copse-test/base:1'
const svc = ['/opt/node/bin/node', '/app/dist/main/cli.js']
const patience = { timeout: 90_000, interval: 250 }

/** The program of this folder in an image with git and Node, in place of one that has it; the node is this machine. */
function withProgram(spec: V1PodSpec): V1PodSpec {
  const [container] = spec.containers
  if (!container) throw new Error('No container.')
  const mounts = [...(container.volumeMounts ?? []), { name: 'program', mountPath: '/app', readOnly: true }]
  return {
    ...spec,
    containers: [{ ...container, image, imagePullPolicy: 'Never', volumeMounts: mounts }],
    volumes: [...(spec.volumes ?? []), { name: 'program', hostPath: { path: projectRoot } }],
  }
}

/** The manifests in a namespace of their own, on a volume that is a folder of this machine. */
async function startPlane() {
  await ensureBuilt()
  await using made = new AsyncDisposableStack()
  const config = new KubeConfig()
  config.loadFromDefault()
  const core = config.makeApiClient(CoreV1Api)
  const apps = config.makeApiClient(AppsV1Api)
  const objects = KubernetesObjectApi.makeApiClient(config)
  const namespace = `copse-plane-${process.pid}`
  const volume = await mkdtemp(join(tmpdir(), 'copse-plane-'))
  made.defer(() => rm(volume, { recursive: true, force: true, maxRetries: 5 }))
  // A volume of this type is not given to the pod's group.
  await chown(volume, 1_000, 1_000)
  const pods = async () => (await core.listNamespacedPod({ namespace })).items
  await core.createNamespace({ body: { metadata: { name: namespace } } })
  made.defer(async () => {
    await core.deleteNamespace({ name: namespace })
    await expect.poll(pods, { ...patience, timeout: 120_000 }).toEqual([])
  })
  const spec = { capacity: { storage: '20Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: volume } }
  const claimRef = { namespace, name: 'copse' }
  await core.createPersistentVolume({ body: { metadata: { name: namespace }, spec: { ...spec, claimRef } } })
  made.defer(async () => void (await core.deletePersistentVolume({ name: namespace })))

  for (const one of parseManifests(renderChart(namespace)) as readonly KubernetesObject[]) {
    if (one.kind === 'Deployment') {
      const { template } = (one as { spec: { template: { spec: V1PodSpec } } }).spec
      template.spec = withProgram(template.spec)
      const [container] = template.spec.containers
      if (container) container.command = svc
    }
    await objects.create(one)
  }

  const isReady = ({ status }: V1Pod) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  const ready = async (fits: (pod: V1Pod) => boolean = () => true): Promise<V1Pod> => {
    const found = async () => (await pods()).find((pod) => isReady(pod) && fits(pod)) ?? null
    await expect.poll(found, patience).not.toBeNull()
    return (await found()) as V1Pod
  }
  const exec = async (name: string, command: readonly string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const { promise, resolve } = Promise.withResolvers<V1Status>()
    const [out, problems] = [buffer(stdout), text(stderr)]
    await new Exec(config).exec(namespace, name, 'copse', [...command], stdout, stderr, null, false, resolve)
    const { status } = await promise
    stdout.end()
    stderr.end()
    if (status !== 'Success') throw new Error(await problems)
    return await out
  }
  const scale = async (replicas: number) => {
    const scaled = { metadata: { namespace, name: 'copse' }, spec: { replicas } }
    await apps.replaceNamespacedDeploymentScale({ name: 'copse', namespace, body: scaled })
  }
  const owned = made.move()
  return {
    namespace,
    volume,
    config,
    core,
    objects,
    pods,
    ready,
    exec,
    scale,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const clientOf = (pod: V1Pod, token: string | null) =>
  createClient(createHttpTransport({ baseUrl: `http://${pod.status?.podIP}:4870`, getToken: () => token }))

test.runIf(hasCluster)('keeps its data in a cluster from pod to pod, and from a backup', async () => {
  await using plane = await startPlane()
  const { core, namespace } = plane
  const first = await plane.ready()
  const name = first.metadata?.name ?? ''
  const log = await core.readNamespacedPodLog({ name, namespace })
  const invite = /setup code[^\n]*?([\w-]{32,})/i.exec(log)?.[1]
  expect(invite, log).toBeDefined()
  const person = { email: 'owner@copse.test', password: 'correct horse', display_name: 'Owner' }
  const { access_token } = await clientOf(first, null).call('auth.register', {
    ...person,
    ...(invite !== undefined && { invite }),
  })
  const { token } = await clientOf(first, access_token).call('auth.create_token', { name: 'ci' })
  await clientOf(first, token).call('agents.create', { name: 'Before', executor: 'external' })
  const named = async (pod: V1Pod) => (await clientOf(pod, token).call('agents.list', {})).items.map((one) => one.name)
  const backup = await plane.exec(name, [...svc, 'backup', '-'])
  await clientOf(first, token).call('agents.create', { name: 'After', executor: 'external' })

  await core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 })
  const second = await plane.ready(({ metadata }) => metadata?.uid !== first.metadata?.uid)
  expect((await named(second)).toSorted()).toEqual(['After', 'Before'])

  await plane.scale(0)
  await expect.poll(plane.pods, patience).toEqual([])
  const restoring = parseManifests(await readFile(join(kubernetesFolder, 'restore.yaml'), 'utf8'))[0] as V1Pod
  const spec = withProgram(restoring.spec as V1PodSpec)
  await plane.objects.create({ ...restoring, metadata: { ...restoring.metadata, namespace }, spec } as KubernetesObject)
  const holder = (await plane.ready()).metadata?.name ?? ''
  await writeFile(join(plane.volume, 'copse.tar.gz'), backup, { mode: 0o644 })
  const said = await plane.exec(holder, [...svc, 'restore', '/var/lib/copse/copse.tar.gz', '--replace', '--json'])
  expect(JSON.parse(said.toString())).toMatchObject({ event: 'restored', data_dir: '/var/lib/copse/data' })
  await core.deleteNamespacedPod({ name: holder, namespace, gracePeriodSeconds: 0 })
  await expect.poll(plane.pods, patience).toEqual([])
  // As a pod leaves it that ends without a word; its process had the number that the next one has.
  const lock = { pid: 1, host: 'copse', since: new Date().toISOString(), started: 'earlier 1' }
  await writeFile(join(plane.volume, 'data', 'copse.lock'), JSON.stringify(lock))
  await plane.scale(1)
  expect(await named(await plane.ready())).toEqual(['Before'])

  const reviews = plane.config.makeApiClient(AuthorizationV1Api)
  const may = async (resourceAttributes: Readonly<Record<string, string | undefined>>) => {
    const user = `system:serviceaccount:${namespace}:copse`
    const body = { spec: { user, resourceAttributes: { namespace, ...resourceAttributes } } }
    return (await reviews.createSubjectAccessReview({ body })).status?.allowed
  }
  for (const right of Object.values(rights)) expect(await may({ ...right }), JSON.stringify(right)).toBe(true)
  expect(await may({ verb: 'get', group: '', resource: 'secrets' })).toBe(false)
})
