import type { CoreV1Event, V1Pod } from '@kubernetes/client-node'

/** Why a pod does not start, or has ended, in a sentence with what to do. */
export interface PodTrouble {
  readonly message: string
  /** It may pass without anyone doing something: another pod ends, or the cluster grows. */
  readonly mayPass: boolean
}

type ContainerReason = (image: string, said: string) => string

/** The reasons for which a container waits, by the words that the kubelet has for them. */
const waiting: Readonly<Record<string, ContainerReason>> = {
  ErrImagePull: (image, said) => `The image ${image} can’t be pulled: ${said}`,
  ImagePullBackOff: (image, said) => `The image ${image} can’t be pulled: ${said}`,
  ErrImageNeverPull: (image) => `The image ${image} is not on the node, and its pull policy is Never.`,
  InvalidImageName: (image) => `${image} is no name of an image.`,
  CreateContainerConfigError: (_, said) => `The container can’t be made: ${said}`,
  CreateContainerError: (_, said) => `The container can’t be made: ${said}`,
  RunContainerError: (_, said) => `The container can’t start: ${said}`,
}

/** The first failure to pull may be a hiccup of the registry; the back-off after it says that it was not. */
const passing: ReadonlySet<string> = new Set(['ErrImagePull'])

/** Returns why a pod that was made is not running; null if nothing speaks against it. */
export function startTrouble(pod: V1Pod): PodTrouble | null {
  const [status] = pod.status?.containerStatuses ?? []
  const { reason, message } = status?.state?.waiting ?? {}
  const words = reason === undefined ? undefined : waiting[reason]
  if (words && reason !== undefined)
    return { message: words(status?.image || imageOf(pod), sentenceEnd(message)), mayPass: passing.has(reason) }
  const unplaced = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  if (unplaced?.reason === 'Unschedulable')
    return { message: `No node has room for the pod: ${sentenceEnd(unplaced.message)}`, mayPass: true }
  return endTrouble(pod)
}

/** Returns why a pod has ended; null while it has not. */
export function endTrouble(pod: V1Pod): PodTrouble | null {
  const { phase, reason, message } = pod.status ?? {}
  const ended = pod.status?.containerStatuses?.map(({ state }) => state?.terminated).find((one) => one !== undefined)
  const said = (text: string): PodTrouble => ({ message: text, mayPass: false })
  if (ended?.reason === 'OOMKilled')
    return said('The pod ran out of memory and was ended. Give it more: resources.limits.memory in its pod.')
  if (reason === 'Evicted') return said(`The cluster evicted the pod: ${sentenceEnd(message)}`)
  if (reason === 'DeadlineExceeded') return said('The pod ran for longer than its deadline and was ended.')
  if (reason === 'NodeLost') return said('The node of the pod is lost.')
  if (pod.metadata?.deletionTimestamp !== undefined) return said('The pod was deleted.')
  if (phase === 'Failed' || phase === 'Succeeded' || ended)
    return said(`The pod has ended: ${sentenceEnd(message ?? ended?.message ?? ended?.reason ?? phase)}`)
  return null
}

/** Returns why a Job makes no pod, by its events; null if they tell nothing. */
export function quotaTrouble(events: readonly CoreV1Event[]): PodTrouble | null {
  const failed = events.findLast(({ reason, type }) => type === 'Warning' && reason === 'FailedCreate')
  if (!failed) return null
  const said = sentenceEnd(failed.message)
  return /exceeded quota/.test(said)
    ? { message: `The quota of the namespace is used up: ${said}`, mayPass: true }
    : { message: `The cluster makes no pod: ${said}`, mayPass: false }
}

const imageOf = (pod: V1Pod): string => pod.spec?.containers[0]?.image ?? 'of the pod'

export const sentenceEnd = (text: string | undefined): string => {
  const said = (text ?? '').trim()
  if (said === '') return 'the cluster gives no reason.'
  return /[.!?]$/.test(said) ? said : `${said}.`
}
