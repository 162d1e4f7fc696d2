import type { KubernetesConfig, RunnerCheckStep } from '../../../src-shared/contract/runners.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { checkStep, probeScript, readProbe } from '../remote/probe.ts'
import { NoContext, openCluster, wordsOf, type Right } from './cluster.ts'
import { podFolder } from './job-manifest.ts'
import { PodFailed, type KubernetesRunner } from './kubernetes-runner.ts'

/** All that the service does in the namespace, with its name for people. */
export const rights: Readonly<Record<string, Right>> = {
  'create jobs': { verb: 'create', group: 'batch', resource: 'jobs' },
  'list jobs': { verb: 'list', group: 'batch', resource: 'jobs' },
  'delete jobs': { verb: 'delete', group: 'batch', resource: 'jobs' },
  'list pods': { verb: 'list', group: '', resource: 'pods' },
  'list events': { verb: 'list', group: '', resource: 'events' },
  'create pods/exec': { verb: 'create', group: '', resource: 'pods', subresource: 'exec' },
  // A WebSocket begins with a GET.
  'get pods/exec': { verb: 'get', group: '', resource: 'pods', subresource: 'exec' },
}

/** Where a pod finds what it does not have in PATH; as for the runner in it. */
const path = `PATH="${podFolder}/tools/bin:$PATH:/usr/local/bin:/opt/node/bin"; export PATH; cd ${podFolder}`

/** Looks whether runs can start in a cluster: it is reached, may be used, and a pod of the image has what a run needs. */
export async function checkKubernetesRunner(
  config: KubernetesConfig,
  pods: Pick<KubernetesRunner, 'tryPod'>,
  { signal, agents }: Cancellable & { readonly agents: readonly string[] },
): Promise<readonly RunnerCheckStep[]> {
  let reached: RunnerCheckStep
  try {
    const cluster = await openCluster(config)
    reached = checkStep('reach', true, `The cluster answers; it is Kubernetes ${await cluster.version()}.`)
    const lacking: string[] = []
    for (const [name, right] of Object.entries(rights)) if (!(await cluster.may(right))) lacking.push(name)
    signal.throwIfAborted()
    if (lacking.length > 0) {
      const message = `In the namespace ${config.namespace} you may not ${lacking.join(', ')}.`
      return [reached, checkStep('rights', false, message, 'Ask for a role with these rights; the guide has one.')]
    }
  } catch (error) {
    signal.throwIfAborted()
    return [notReached(error)]
  }
  const allowed = checkStep('rights', true, `It may run pods in the namespace ${config.namespace}.`)
  try {
    const probed = readProbe(await pods.tryPod(`${path}\n${probeScript(agents)}`, { signal }))
    if (probed === null) {
      const message = `A pod of ${config.image} starts, but runs no shell.`
      return [reached, allowed, checkStep('pod', false, message, 'Use an image with a shell.')]
    }
    return [reached, allowed, checkStep('pod', true, `A pod of ${config.image} starts.`), ...probed.steps]
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof PodFailed ? error.message : `No pod starts: ${wordsOf(error)}`
    return [reached, allowed, checkStep('pod', false, message, 'Change the image or the pod of this runner.')]
  }
}

function notReached(error: unknown): RunnerCheckStep {
  if (error instanceof NoContext)
    return checkStep('reach', false, error.message, 'Choose one of “kubectl config get-contexts”.')
  return checkStep(
    'reach',
    false,
    `The cluster can’t be reached: ${wordsOf(error)}`,
    'Try “kubectl get pods” in a terminal, as the user of Copse.',
  )
}
