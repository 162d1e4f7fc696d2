import type { V1Job, V1PodSpec } from '@kubernetes/client-node'
import type { KubernetesConfig } from '../../../src-shared/contract/runners.ts'

/** By these the service finds what it has left in a cluster. */
export const labels = {
  installation: 'copse.installation',
  runner: 'copse.runner',
  job: 'copse.job',
} as const

/** The container of the work in a pod. */
export const workContainer = 'copse'
/** The folder of the runner in a pod. */
export const podFolder = '/copse'
/** How long a pod has to end, in seconds. */
const endSeconds = 15
/** No pod outlives it, whatever has become of the service. In seconds. */
const longestSeconds = 7 * 24 * 3_600

/** Runs until it is told to end; the work comes by exec, to this pod and no second one. */
const idle = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'

interface WantedJob {
  readonly config: KubernetesConfig
  readonly installation: string
  readonly runner_id: string
  readonly job_id: string
}

export const jobName = (job_id: string): string => `copse-${job_id}`

/** Returns the Kubernetes Job that carries a job: one pod, never a second try, and nothing of the cluster's API in it. */
export function jobManifest({ config, installation, runner_id, job_id }: WantedJob): V1Job {
  const own = { [labels.installation]: installation, [labels.runner]: runner_id, [labels.job]: job_id }
  const base: V1PodSpec = {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    containers: [
      {
        name: workContainer,
        image: config.image,
        env: [{ name: 'HOME', value: `${podFolder}/home` }],
        volumeMounts: [{ name: 'copse', mountPath: podFolder }],
      },
    ],
    volumes: [{ name: 'copse', emptyDir: {} }],
  }
  const spec = merge(base, config.pod ?? {}) as V1PodSpec
  return {
    metadata: { name: jobName(job_id), namespace: config.namespace, labels: own },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: longestSeconds,
      ttlSecondsAfterFinished: 600,
      template: {
        metadata: { labels: own },
        spec: {
          ...spec,
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: endSeconds,
          containers: spec.containers.map((one) =>
            one.name === workContainer ? { ...one, command: ['sh', '-c', idle], args: [] } : one,
          ),
        },
      },
    },
  }
}

/**
 * Merges as `kubectl patch` does: objects by key, lists of named objects by name; any other list is replaced. null
 * removes a key.
 */
export function merge(base: unknown, patch: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(patch) && [...base, ...patch].every(isNamed)) {
    const patches = patch.filter(isNamed)
    const names = new Set(base.filter(isNamed).map(({ name }) => name))
    return [
      ...base.filter(isNamed).map((one) => {
        const own = patches.find(({ name }) => name === one.name)
        return own ? merge(one, own) : one
      }),
      ...patches.filter(({ name }) => !names.has(name)),
    ]
  }
  if (!isObject(base) || !isObject(patch)) return patch
  const kept = Object.entries({ ...base, ...patch }).filter(([key]) => patch[key] !== null)
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key in base && key in patch ? merge(base[key], patch[key]) : value]),
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNamed = (value: unknown): value is Record<string, unknown> & { readonly name: string } =>
  isObject(value) && typeof value['name'] === 'string'
