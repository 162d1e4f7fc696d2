import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'
import type { KubernetesConfig } from '../../../src-shared/contract/runners.ts'
import { afterwards } from '../../../src-shared/lang/afterwards.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { quoted } from '../../platform/process/process-shell.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { RunnerTokens } from '../../ports/runner-tokens.ts'
import type { CarriedPorts } from '../remote/carried-ports.ts'
import { carryLink, readProgram } from '../remote/carry-link.ts'
import type { CarriedJob } from '../remote/start-job.ts'
import { clusterError, openCluster, wordsOf, type Cluster } from './cluster.ts'
import { jobManifest, jobName, labels, podFolder } from './job-manifest.ts'
import { endTrouble, quotaTrouble, sentenceEnd, startTrouble } from './pod-trouble.ts'

export interface KubernetesRunnerParts {
  readonly runner_id: RunnerId
  readonly config: KubernetesConfig
  /** By this the service knows its own in the cluster. */
  readonly installation: string
  /** The program that is brought to each pod. */
  readonly program: string
  readonly jobs: Pick<Jobs, 'isOpen' | 'loseJob' | 'unreached'>
  readonly tokens: Pick<RunnerTokens, 'make'>
  /** Takes the connections of the runner in a pod and of what it runs. */
  readonly onConnection: (connection: Duplex, runner_id: RunnerId) => void
  readonly ports: Pick<CarriedPorts, 'ofLink'>
  readonly log: Logger
}

/** The pods of a runner in Kubernetes, one a job. */
export interface KubernetesRunner {
  /** Gives a job its pod, or finds the one that it has, and ends the pod with the job. */
  carry(job: Omit<CarriedJob, 'kind'>): void
  /** Starts a pod as a job would, runs a script in it and ends it. Throws `PodFailed`. */
  tryPod(script: string, options: Cancellable): Promise<string>
  /** Ends the pods that are here for no job of this service. */
  tidy(): Promise<void>
  /** Breaks the links. What runs in pods goes its way. */
  close(): Promise<void>
}

/** The pod of a job can't start, or has ended. */
export class PodFailed extends Error {
  override readonly name = 'PodFailed'
}

/** How long the pod of a run may wait for room in the cluster; that of a check, for which a person waits. */
const [roomMs, checkRoomMs] = [10 * 60_000, 20_000] as const
const lookMs = 1_000
const maxPauseMs = 15_000
/** So many links in a row can fail before the pod of a job that none has taken counts as out of reach. */
const maxFailed = 3

export function createKubernetesRunner(parts: KubernetesRunnerParts): KubernetesRunner {
  const { runner_id, config, installation, log } = parts
  const closing = new AbortController()
  const carried = new Map<string, Promise<void>>()
  /** The names of the checks whose pods are there now. */
  const checks = new Set<string>()
  let opened: Promise<Cluster> | null = null
  const cluster = (): Promise<Cluster> => {
    opened ??= openCluster(config)
    // A configuration that was mended is read again.
    opened.catch(() => (opened = null))
    return opened
  }

  /** Resolves with the name of the pod once its container runs. */
  const startPod = async (job_id: string, waitMs: number, { signal }: Cancellable): Promise<string> => {
    const api = await cluster()
    try {
      await api.createJob(jobManifest({ config, installation, runner_id, job_id }))
    } catch (error) {
      const answer = clusterError(error)
      throw answer ? new PodFailed(`The cluster refuses the job: ${answer.message}`) : error
    }
    const until = performance.now() + waitMs
    for (;;) {
      const [pod] = await api.pods(jobName(job_id))
      if (pod?.status?.containerStatuses?.every(({ state }) => state?.running !== undefined)) return podName(pod)
      const trouble = pod ? startTrouble(pod) : quotaTrouble(await api.events(jobName(job_id)))
      if (trouble && (!trouble.mayPass || performance.now() > until)) throw new PodFailed(trouble.message)
      if (performance.now() > until + roomMs) throw new PodFailed('The pod has not started for ten minutes.')
      await delay(lookMs, undefined, { signal })
    }
  }
  /** Resolves with the name of the pod that a job has, however long the cluster doesn't answer; makes none. */
  const findPod = async (job_id: string, { signal }: Cancellable): Promise<string> => {
    for (let pause = lookMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      signal.throwIfAborted()
      const pods = await cluster()
        .then((api) => api.pods(jobName(job_id)))
        .catch((error: unknown) => {
          log.info({ err: error, runner_id, job_id }, 'the pod of a job can’t be looked for')
          return null
        })
      if (pods !== null) {
        const [pod] = pods
        const trouble = pod ? endTrouble(pod) : gone
        if (pod && trouble === null) return podName(pod)
        throw new PodFailed((trouble ?? gone).message)
      }
      await delay(pause, undefined, { signal })
    }
  }
  const bring = async (pod: string, { signal }: Cancellable): Promise<string> => {
    const api = await cluster()
    const { name: file, bytes } = await readProgram(parts.program)
    const name = `${podFolder}/${file}`
    const run = async (script: string, input?: Uint8Array): Promise<string> => {
      const answer = await api.run(pod, ['sh', '-c', script], { signal, ...(input && { input }) })
      if (answer.exit_code === 0) return answer.stdout
      if (answer.exit_code === null) throw new Error('The connection to the pod broke.')
      throw new PodFailed(lastLine(answer.stderr) || lastLine(answer.stdout) || 'A command failed in the pod.')
    }
    if ((await run(`mkdir -p "$HOME"; [ -s ${name} ] && echo there || true`)).includes('there')) return name
    await run(`head -c ${bytes.length} > ${name}.new && mv ${name}.new ${name}`, bytes)
    const tools = `${podFolder}/tools`
    for (const command of config.setup ?? [])
      await run(`mkdir -p ${tools}/bin && cd ${tools} && export SVC_TOOLS_DIR=${tools} && sh -c ${quoted([command])}`)
    return name
  }
  /** Carries one link, until it breaks. */
  const link = async (pod: string, job_id: JobId, { signal }: Cancellable): Promise<void> => {
    const name = await bring(pod, { signal })
    const api = await cluster()
    const script = `PATH="${podFolder}/tools/bin:$PATH:/usr/local/bin:/opt/node/bin" exec node ${name} link ${podFolder}`
    const program = await api.start(pod, ['sh', '-c', script])
    await carryLink(program, { ...parts, job_id, signal })
  }
  /** Returns why the pod of a job is gone; null while it runs. */
  const goneFor = async (pod: string, job_id: JobId): Promise<string | null> => {
    const pods = await (await cluster()).pods(jobName(job_id))
    const own = pods.find((one) => podName(one) === pod)
    return own ? (endTrouble(own)?.message ?? null) : gone.message
  }
  const keepLinked = async (
    pod: string,
    { id: job_id, isTaken }: { readonly id: JobId; readonly isTaken: () => boolean },
    { signal }: Cancellable,
  ): Promise<void> => {
    let failed = 0
    for (let pause = lookMs; !signal.aborted; pause = Math.min(2 * pause, maxPauseMs)) {
      const since = performance.now()
      const error: unknown = await link(pod, job_id, { signal }).then(
        () => null,
        (reason: unknown) => reason,
      )
      signal.throwIfAborted()
      log.info({ err: error, runner_id, pod }, 'the link to a pod ended')
      const gone = await goneFor(pod, job_id).catch(() => null)
      if (gone !== null) throw new PodFailed(gone)
      // What the runner there has, it goes on with, and is reached again.
      if (error instanceof PodFailed && !isTaken()) throw error
      failed = error === null ? 0 : failed + 1
      if (failed >= maxFailed && !isTaken()) throw new Error(`A pod can’t be reached: ${said(error)}`, { cause: error })
      if (performance.now() - since > maxPauseMs) pause = lookMs
      await delay(pause, undefined, { signal })
    }
  }
  const removeJob = async (job_id: string): Promise<void> => {
    for (let tries = 0; tries < 5; tries++) {
      try {
        await (await cluster()).deleteJob(jobName(job_id))
        return
      } catch (error) {
        log.warn({ err: error, runner_id, job_id }, 'the pod of a job could not be ended')
        await delay(lookMs * 2 ** tries, undefined, { signal: closing.signal }).catch(() => undefined)
      }
    }
  }
  const carry = async ({ id, ended, taken, isHeld }: Parameters<KubernetesRunner['carry']>[0]): Promise<void> => {
    const over = new AbortController()
    void ended.then(() => over.abort(new Error('The job has ended.')))
    let isTaken = isHeld
    void taken.then(() => (isTaken = true))
    const signal = AbortSignal.any([over.signal, closing.signal])
    const start = async (): Promise<string> => {
      try {
        return await startPod(id, roomMs, { signal })
      } catch (error) {
        throw error instanceof PodFailed
          ? error
          : new Error(`The cluster can’t be reached: ${said(error)}`, { cause: error })
      }
    }
    try {
      const pod = await (isHeld ? findPod(id, { signal }) : start())
      await keepLinked(pod, { id, isTaken: () => isTaken }, { signal })
    } catch (error) {
      if (!signal.aborted) {
        log.info({ err: error, runner_id, job_id: id }, 'a pod has failed')
        if (error instanceof PodFailed) parts.jobs.loseJob(id, error.message)
        else parts.jobs.unreached(id, error instanceof Error ? error.message : String(error))
      }
    }
    // A service that ends leaves the pod to the one after it.
    if (over.signal.aborted || !closing.signal.aborted) await removeJob(id)
  }
  return {
    carry: (job) => {
      const done = carry(job)
      carried.set(job.id, done)
      void done.finally(() => carried.delete(job.id))
    },
    tryPod: async (script, { signal }) => {
      const id = `check-${randomUUID()}`
      checks.add(id)
      const tried = async (): Promise<string> => {
        const pod = await startPod(id, checkRoomMs, { signal })
        return (await (await cluster()).run(pod, ['sh', '-c', script], { signal })).stdout
      }
      return await afterwards(tried(), async () => {
        await removeJob(id)
        checks.delete(id)
      })
    },
    tidy: async () => {
      const api = await cluster()
      const selector = `${labels.installation}=${installation},${labels.runner}=${runner_id}`
      for (const { metadata } of await api.jobs(selector)) {
        const job_id = metadata?.labels?.[labels.job]
        if (job_id !== undefined && !parts.jobs.isOpen(job_id) && !checks.has(job_id)) await removeJob(job_id)
      }
    },
    close: async () => {
      closing.abort(new Error('The service ends.'))
      await Promise.all(carried.values())
    },
  }
}

const said = (error: unknown): string => sentenceEnd(wordsOf(error))

const gone = { message: 'Its pod is gone.' } as const

const podName = ({ metadata }: { readonly metadata?: { readonly name?: string } }): string => metadata?.name ?? ''

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''
