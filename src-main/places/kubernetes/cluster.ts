import type * as Kubernetes from '@kubernetes/client-node'
import type { CoreV1Event, V1Job, V1Pod } from '@kubernetes/client-node'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { KubernetesConfig } from '../../../src-shared/contract/runners.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { workContainer } from './job-manifest.ts'

/** A program in a pod; it goes on there when the connection breaks. */
interface PodProgram {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves with its exit code; null if the connection broke before. Never rejects. */
  readonly ended: Promise<number | null>
  /** Breaks the connection. */
  close(): void
}

interface PodAnswer {
  readonly exit_code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A namespace of a cluster, with the rights of the user's own configuration. Throws what `clusterError` reads. */
export interface Cluster {
  version(): Promise<string>
  /** Returns whether the configuration may do this in the namespace. */
  may(right: Right): Promise<boolean>
  createJob(job: V1Job): Promise<void>
  /** Deletes a Job with its pods; nothing if there is none. */
  deleteJob(name: string): Promise<void>
  jobs(selector: string): Promise<readonly V1Job[]>
  /** Returns the pods of a Job, oldest first. */
  pods(job: string): Promise<readonly V1Pod[]>
  /** Returns what happened to a Job, oldest first. */
  events(job: string): Promise<readonly CoreV1Event[]>
  start(pod: string, command: readonly string[]): Promise<PodProgram>
  /** Runs a program to its end. Its input has no end: a program that reads all of it must know how much there is. */
  run(
    pod: string,
    command: readonly string[],
    options: Cancellable & { readonly input?: Uint8Array },
  ): Promise<PodAnswer>
}

export interface Right {
  readonly verb: 'create' | 'delete' | 'get' | 'list'
  readonly group: '' | 'batch'
  readonly resource: 'jobs' | 'pods' | 'events'
  readonly subresource?: 'exec'
}

/** Reads the user's configuration, or inside a cluster that of the pod. Throws if it has no such context. */
export async function openCluster({ context, namespace }: KubernetesConfig): Promise<Cluster> {
  // Three megabytes, for those who have a cluster.
  const { AuthorizationV1Api, BatchV1Api, CoreV1Api, Exec, KubeConfig, VersionApi }: typeof Kubernetes =
    await import('@kubernetes/client-node')
  const config = new KubeConfig()
  config.loadFromDefault()
  if (context !== undefined) {
    if (!config.getContexts().some(({ name }) => name === context)) throw new NoContext(context)
    config.setCurrentContext(context)
  }
  const core = config.makeApiClient(CoreV1Api)
  const batch = config.makeApiClient(BatchV1Api)
  const start: Cluster['start'] = async (pod, command) => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const ended = Promise.withResolvers<number | null>()
    const socket = await new Exec(config).exec(
      namespace,
      pod,
      workContainer,
      [...command],
      stdout,
      stderr,
      stdin,
      false,
      (status) => ended.resolve(exitCodeOf(status)),
    )
    const over = (): void => {
      ended.resolve(null)
      stdout.end()
      stderr.end()
    }
    socket.on('close', over)
    socket.on('error', over)
    return { stdin, stdout, stderr, ended: ended.promise, close: () => socket.close() }
  }
  return {
    start,
    run: async (pod, command, { signal, input }) => {
      const program = await start(pod, command)
      const stop = (): void => program.close()
      signal.addEventListener('abort', stop, { once: true })
      if (input) program.stdin.write(input)
      const [stdout, stderr, exit_code] = await Promise.all([text(program.stdout), text(program.stderr), program.ended])
      signal.removeEventListener('abort', stop)
      program.close()
      signal.throwIfAborted()
      return { exit_code, stdout, stderr }
    },
    version: async () => (await config.makeApiClient(VersionApi).getCode()).gitVersion,
    may: async ({ group, ...right }) => {
      const body = { spec: { resourceAttributes: { namespace, group, ...right } } }
      const review = await config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({ body })
      return review.status?.allowed ?? false
    },
    createJob: async (body) => void (await batch.createNamespacedJob({ namespace, body })),
    deleteJob: async (name) => {
      try {
        await batch.deleteNamespacedJob({ namespace, name, propagationPolicy: 'Background' })
      } catch (error) {
        if (clusterError(error)?.code !== 404) throw error
      }
    },
    jobs: async (labelSelector) => (await batch.listNamespacedJob({ namespace, labelSelector })).items,
    pods: async (job) => {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: `job-name=${job}` })
      return items.toSorted((a, b) => createdAt(a) - createdAt(b))
    },
    events: async (job) => {
      const fieldSelector = `involvedObject.name=${job}`
      return (await core.listNamespacedEvent({ namespace, fieldSelector })).items
    },
  }
}

const createdAt = ({ metadata }: V1Pod): number => metadata?.creationTimestamp?.getTime() ?? 0

function exitCodeOf({ status, details }: Kubernetes.V1Status): number {
  if (status === 'Success') return 0
  const code = Number(details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message)
  return Number.isInteger(code) ? code : 1
}

/** Returns what went wrong in the words of what failed first: `fetch` says only that it has. */
export function wordsOf(error: unknown): string {
  const answer = clusterError(error)
  if (answer) return answer.message
  let root = error
  while (root instanceof Error && root.cause !== undefined) root = root.cause
  if (!(root instanceof Error)) return String(root)
  return root.message || ('code' in root ? String(root.code) : root.name)
}

export class NoContext extends Error {
  override readonly name = 'NoContext'

  constructor(context: string) {
    super(`Your Kubernetes configuration has no context ${context}.`)
  }
}

/** Returns what the cluster has answered instead of doing something; null if it has not answered. */
export function clusterError(error: unknown): { readonly code: number; readonly message: string } | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'number') return null
  const { code } = error
  const body = 'body' in error ? error.body : undefined
  const said = typeof body === 'string' ? (parseJson(body) as { message?: unknown } | undefined)?.message : undefined
  return { code, message: typeof said === 'string' ? said : `The cluster answered ${code}.` }
}
