import type { KubernetesConfig } from '../../../../src-shared/contract/runners.ts'
import { parseJson } from '../../../../src-shared/lang/parse-json.ts'
import { linesOf } from './draft-values.ts'

/** The configuration of a runner in Kubernetes while it is edited. */
export interface KubernetesDraft {
  namespace: string
  image: string
  context: string
  /** JSON; empty: nothing of its own. */
  pod: string
  /** A command a line. */
  setup: string
}

/** Returns the draft of a configuration; of a new one without it. */
export const kubernetesDraft = (config?: KubernetesConfig): KubernetesDraft => ({
  namespace: config?.namespace ?? '',
  image: config?.image ?? '',
  context: config?.context ?? '',
  pod: config?.pod ? JSON.stringify(config.pod, null, 2) : '',
  setup: (config?.setup ?? []).join('\n'),
})

/** Returns what is still missing, or null. */
export function missingOfKubernetes({ namespace, image, pod }: KubernetesDraft): string | null {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace.trim())) return 'Name the namespace'
  if (!/^[^-\s]\S*$/.test(image.trim())) return 'Name the image of the pods'
  return pod.trim() === '' || podOf(pod) ? null : 'The pod isn’t a JSON object'
}

/** Returns the configuration of a draft, without empty fields. */
export function kubernetesConfig({ namespace, image, context, pod, setup }: KubernetesDraft): KubernetesConfig {
  const own = podOf(pod)
  const commands = linesOf(setup)
  return {
    namespace: namespace.trim(),
    image: image.trim(),
    ...(context.trim() !== '' && { context: context.trim() }),
    ...(own && { pod: own }),
    ...(commands.length > 0 && { setup: commands }),
  }
}

function podOf(text: string): Record<string, unknown> | null {
  const value = parseJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}
