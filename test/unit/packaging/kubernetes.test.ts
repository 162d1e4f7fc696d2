import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { V1Container, V1Deployment, V1Ingress, V1PodSpec, V1PolicyRule, V1Probe } from '@kubernetes/client-node'
import { createProgram } from '../../../src-main/cli/program.ts'
import { readConfig } from '../../../src-main/platform/config/config.ts'
import { findResources } from '../../../src-main/platform/config/paths.ts'
import { rights } from '../../../src-main/places/kubernetes/check-cluster.ts'
import { shutdownGraceMs } from '../../../src-main/executions/executions.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { chartFile, kubernetesFolder, parseManifests, renderChart, type Manifest } from '../../helpers/render-chart.ts'

const read = (...path: readonly string[]) => readFileSync(join(projectRoot, ...path), 'utf8')
const program = findResources(projectRoot)
const manifests = parseManifests(renderChart('copse'))
const find = <T>(kind: string, of: readonly Manifest[] = manifests): T => {
  const found = of.find((one) => one.kind === kind)
  if (!found) throw new Error(`No ${kind}.`)
  return found as T
}
const podOf = (deployment: V1Deployment): V1PodSpec => deployment.spec?.template.spec as V1PodSpec
const pod = podOf(find<V1Deployment>('Deployment'))
const container = pod.containers[0] as V1Container
const envOf = ({ env = [] }: V1Container) => Object.fromEntries(env.map(({ name, value }) => [name, value]))

/** UPDATE_MANIFESTS=1 rewrites it. */
test('has the manifests that the chart renders, for those without Helm', async () => {
  const file = join(kubernetesFolder, 'copse.yaml')
  const rendered = `# Rendered from the chart beside it, for the namespace copse.\n${renderChart('copse')}`
  if (process.env['UPDATE_MANIFESTS'] === '1') (await import('node:fs')).writeFileSync(file, rendered)
  expect(readFileSync(file, 'utf8')).toBe(rendered)
  const templates = readdirSync(join(kubernetesFolder, 'chart', 'templates'))
  expect(templates.toSorted()).toEqual(['claim.yaml', 'deployment.yaml', 'runners.yaml', 'service.yaml'])
})

test('runs one pod at a time on one volume, with a host name that the lock knows again', () => {
  const { spec } = find<V1Deployment>('Deployment')
  expect([spec?.replicas, spec?.strategy?.type, pod.hostname]).toEqual([1, 'Recreate', 'copse'])
  expect(spec?.template.metadata?.labels).toMatchObject(spec?.selector.matchLabels ?? {})
  expect(Number(pod.terminationGracePeriodSeconds) * 1_000).toBeGreaterThan(shutdownGraceMs)
  const claims = (pod.volumes ?? []).flatMap((one) => one.persistentVolumeClaim?.claimName ?? [])
  expect(claims).toEqual([find<Manifest>('PersistentVolumeClaim').metadata.name])
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name))
  expect(mounted).toEqual(new Set((pod.volumes ?? []).map(({ name }) => name)))
})

test('starts the service with options that it has, and settings that it reads', () => {
  const never = () => Promise.reject(new Error('Only the options are read.'))
  const local = { serve: never, demo: never, rotateKey: never, backUp: never, restore: never, connectRunner: never }
  const serve = createProgram({ version: '0', ...local }).commands.find((one) => one.name() === 'serve')
  const [command, ...args] = container.args ?? []
  expect(command).toBe('serve')
  for (const flag of args.filter((one) => one.startsWith('--')))
    expect(serve?.options.map(({ long }) => long)).toContain(flag)
  expect(readConfig(envOf(container), { host: '0.0.0.0', expose: true }, program)).toMatchObject({
    port: container.ports?.[0]?.containerPort,
    dataDir: '/var/lib/copse/data',
    tls: null,
    allowedHosts: [],
    trustProxy: [],
  })
  const changed = parseManifests(renderChart('copse', { allowedHosts: 'copse.example.com', trustProxy: '10.0.0.0/8' }))
  const env = envOf(podOf(find<V1Deployment>('Deployment', changed)).containers[0] as V1Container)
  expect(readConfig(env, { host: '0.0.0.0', expose: true }, program)).toMatchObject({
    allowedHosts: ['copse.example.com'],
    trustProxy: ['10.0.0.0/8'],
  })
})

test('probes the route of the health check, over HTTPS where the service speaks it', () => {
  const probesOf = ({ startupProbe, readinessProbe, livenessProbe }: V1Container) =>
    [startupProbe, readinessProbe, livenessProbe].map((one: V1Probe | undefined) => one?.httpGet)
  const expected = { path: '/healthz', port: container.ports?.[0]?.name }
  for (const probe of probesOf(container)) expect(probe).toEqual({ ...expected, scheme: 'HTTP' })
  expect(read('src-main', 'server', 'create-server.ts')).toContain(`url: '${expected.path}'`)
  const tls = { secret: 'mine', cert: '/tls/tls.crt', key: '/tls/tls.key', scheme: 'HTTPS' }
  const secured = podOf(find<V1Deployment>('Deployment', parseManifests(renderChart('copse', { tls }))))
  for (const probe of probesOf(secured.containers[0] as V1Container))
    expect(probe).toEqual({ ...expected, scheme: 'HTTPS' })
  expect(secured.volumes).toContainEqual({ name: 'tls', secret: { secretName: 'mine', optional: true } })
})

test('is reached through the service and the ingress at its port', () => {
  const { spec } = find<{ spec: { selector: object; ports: readonly { name: string; targetPort: string }[] } }>(
    'Service',
  )
  expect(spec.ports[0]?.targetPort).toBe(container.ports?.[0]?.name)
  expect(find<V1Deployment>('Deployment').spec?.template.metadata?.labels).toMatchObject(spec.selector)
  const ingress = parseManifests(readFileSync(join(kubernetesFolder, 'ingress.yaml'), 'utf8'))[0] as V1Ingress
  const backend = ingress.spec?.rules?.[0]?.http?.paths[0]?.backend.service
  expect(backend).toEqual({ name: find<Manifest>('Service').metadata.name, port: { name: spec.ports[0]?.name } })
})

/** All pairs of verb and resource that rules allow. */
const allowedBy = (rules: readonly V1PolicyRule[]) =>
  new Set(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
      ),
    ),
  )

test('gives the account exactly the rights that a runner is checked for, as docs/runners.md does', () => {
  const needed = Object.values(rights).map(
    ({ verb, group, resource, subresource }) => `${verb} ${group}/${resource}${subresource ? `/${subresource}` : ''}`,
  )
  const role = find<{ rules: readonly V1PolicyRule[] }>('Role')
  expect(allowedBy(role.rules)).toEqual(new Set(needed))
  const shown = /```yaml\n(apiVersion: rbac[^]*?)```/.exec(read('docs', 'runners.md'))?.[1] ?? ''
  expect(allowedBy((parse(shown) as { rules: readonly V1PolicyRule[] }).rules)).toEqual(new Set(needed))
  const account = find<Manifest>('ServiceAccount').metadata
  expect(pod.serviceAccountName).toBe(account.name)
  const elsewhere = parseManifests(renderChart('copse', { runners: { namespace: 'agents' } }))
  expect(find<Manifest>('Role', elsewhere).metadata.namespace).toBe('agents')
  expect(find<Manifest>('RoleBinding', elsewhere)).toMatchObject({
    metadata: { namespace: 'agents' },
    roleRef: { kind: 'Role', name: find<Manifest>('Role').metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: account.name, namespace: 'copse' }],
  })
})

test('restores with the volume, the user and the data folder of the service', () => {
  const one = parseManifests(readFileSync(join(kubernetesFolder, 'restore.yaml'), 'utf8'))[0] as Manifest
  const spec = one.spec as V1PodSpec
  const same = ({ containers: [first], volumes = [], ...rest }: V1PodSpec) => ({
    hostname: rest.hostname,
    user: rest.securityContext?.runAsUser,
    image: first?.image,
    data_dir: envOf(first as V1Container)['SVC_DATA_DIR'],
    volume: volumes.find(({ name }) => name === 'data')?.persistentVolumeClaim?.claimName,
    mounted: first?.volumeMounts?.find(({ name }) => name === 'data')?.mountPath,
  })
  expect(same(spec)).toEqual(same(pod))
})

test('puts into the image what the program looks for, for the user of the pod', () => {
  const file = read('packaging', 'Containerfile')
  const copied = [...file.matchAll(/^COPY --from=build (.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '))
  const has = (path: string) => copied.some((one) => path === one || path.startsWith(`${one}/`))
  const { root, webRoot, workflowsDir, migrationsDir, runnerProgram } = program
  for (const path of [webRoot ?? join(root, 'dist/renderer'), workflowsDir, migrationsDir, runnerProgram])
    expect(has(path.replace(root, '/app')), path).toBe(true)
  for (const path of copied.filter((one) => !/\/(dist|node_modules)$/.test(one)))
    expect(existsSync(path.replace('/app', projectRoot)), path).toBe(true)
  const [, user, group] = /^USER (\d+):(\d+)$/m.exec(file) ?? []
  expect([pod.securityContext?.runAsUser, pod.securityContext?.fsGroup]).toEqual([Number(user), Number(group)])
  expect(file).toContain(`EXPOSE ${container.ports?.[0]?.containerPort}\n`)
  for (const [name, value] of Object.entries(envOf(container)).filter(([, one]) => one?.startsWith('/var')))
    expect(file).toContain(`${name}=${value}`)
  const { version } = program
  expect(chartFile('Chart.yaml')).toMatchObject({ version, appVersion: version })
  expect(chartFile('values.yaml')).toMatchObject({ image: { tag: version } })
})
