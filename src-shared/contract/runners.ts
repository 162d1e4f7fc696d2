import { z } from 'zod'
import { ExtraPaths } from './containment.ts'
import { ProjectId, RunnerId, Timestamp } from './ids.ts'
import { shownName } from './shown-name.ts'

/** The machine of the service, which always runs work. */
export const hereRunner = 'here' as RunnerId

export const runnerKinds = ['here', 'container', 'ssh', 'kubernetes', 'daemon'] as const
export type RunnerKind = (typeof runnerKinds)[number]

export const runnerStates = ['ready', 'unreachable', 'outdated', 'unchecked'] as const
export type RunnerState = (typeof runnerStates)[number]

/** Why no runner of a kind can be made. */
const notMade: Partial<Record<RunnerKind, string>> = {
  here: 'This machine is always there. Choose another type.',
  daemon: 'This machine connects from its side: add it with `POST /daemons`, and start `svc runner` there.',
}

/** Returns whether a runner of this kind can be made. */
export const canMakeRunner = (kind: RunnerKind): boolean => notMade[kind] === undefined

/** Text that reaches a command line: of one line, and no option. */
const word = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^-\s][^\s\0]*$/, 'Use no spaces, and no “-” in front.')

export const containerNetworks = ['open', 'hosts', 'none'] as const

export const ContainerConfig = z
  .strictObject({
    engine: z
      .union([
        z.enum(['docker', 'podman']),
        z
          .string()
          .regex(/^unix:\/\/\/\S+$/, 'A socket: `unix:///run/…`.')
          .max(300),
      ])
      .nullable()
      .default(null)
      .describe('Which engine runs it: a program, or the socket of one. null: the first that answers.'),
    image: word(500).optional().describe('The image of the containers, as the engine names it.'),
    devcontainer: z
      .boolean()
      .default(false)
      .describe(
        'Use the `devcontainer.json` of each project, as it is in the commit where branches start, and no image.',
      ),
    cpus: z.number().min(0.1).max(1_024).optional().describe('How many processors a container may use.'),
    memory_mb: z.int().min(64).max(16_777_216).optional().describe('How much memory a container may use.'),
    network: z
      .enum(containerNetworks)
      .default('open')
      .describe('`open`: the network of the machine. `hosts`: only the allowed hosts. `none`: only Copse.'),
    mounts: z
      .strictObject(ExtraPaths.shape)
      .optional()
      .describe('Further folders of this machine that a container may read or write.'),
    setup: z
      .array(z.string().min(1).max(10_000))
      .max(50)
      .default([])
      .describe('Commands that fill a kept folder of tools, which comes first in PATH.'),
  })
  .superRefine(({ image, devcontainer }, context) => {
    if (image === undefined && !devcontainer)
      context.addIssue({ code: 'custom', path: ['image'], message: 'Name the image of the container.' })
    if (image !== undefined && devcontainer) {
      const message = 'Each project’s dev container has its own image. Leave this one out.'
      context.addIssue({ code: 'custom', path: ['image'], message })
    }
  })

export type ContainerConfig = z.infer<typeof ContainerConfig>

/** A machine that is reached by the system's `ssh`, with the user's configuration. */
export const SshConfig = z.strictObject({
  host: word(255).describe('A name of your ssh configuration, or `user@host`.'),
  port: z.int().min(1).max(65_535).optional(),
  ssh_config: z
    .string()
    .regex(/^\/[^\0\n]+$/, 'An absolute path.')
    .max(4_096)
    .optional()
    .describe('Another configuration file than your own.'),
  folder: z
    .string()
    .regex(/^[^-~\s][^\0\n]*$/, 'A path there, absolute or below the home.')
    .max(500)
    .optional()
    .describe('Where it keeps clones and its program; `.copse-runner` in the home there when absent.'),
})
export type SshConfig = z.infer<typeof SshConfig>

/** A namespace of a cluster, with the rights of the service's Kubernetes configuration; each job gets a pod there. */
export const KubernetesConfig = z.strictObject({
  namespace: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'A name of lower-case letters, digits and “-”.')
    .describe('Where its pods are.'),
  image: word(500).describe('The image of the pods; it has git and Node.'),
  context: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .describe('A context of your Kubernetes configuration; the current one when absent.'),
  pod: z
    .record(z.string(), z.unknown())
    .refine((pod) => JSON.stringify(pod).length <= 50_000, 'At most 50,000 characters.')
    .optional()
    .describe('Merged into the spec of its pods: resources, nodes, secrets. The container of the work is `copse`.'),
  setup: z
    .array(z.string().min(1).max(10_000))
    .max(50)
    .optional()
    .describe('Commands that fill a folder of tools in each pod, which comes first in PATH.'),
})
export type KubernetesConfig = z.infer<typeof KubernetesConfig>

/** A machine that connects from its side, with the token of a daemon. */
const DaemonConfig = z.strictObject({
  shared: z.boolean().describe('false: it takes the runs of its owner’s agents alone.'),
})

const configs = {
  container: ContainerConfig,
  ssh: SshConfig,
  kubernetes: KubernetesConfig,
  daemon: DaemonConfig,
} as const

/** Returns the kind of runner that a configuration is meant for, by a key that only this kind has. */
const kindOfConfig = (config: object): keyof typeof configs => {
  if ('host' in config && !('image' in config)) return 'ssh'
  if ('namespace' in config) return 'kubernetes'
  return 'shared' in config ? 'daemon' : 'container'
}

/** What is particular to a kind of runner. */
export const RunnerConfig = z.union([ContainerConfig, SshConfig, KubernetesConfig, DaemonConfig], {
  error: ({ input }) => {
    const kind = typeof input === 'object' && input !== null ? kindOfConfig(input) : 'container'
    const [issue] = configs[kind].safeParse(input).error?.issues ?? []
    return issue && [issue.path.join('.'), issue.message].filter((text) => text !== '').join(': ')
  },
})
export type RunnerConfig = z.infer<typeof RunnerConfig>

/** Returns whether a configuration is one of this kind. */
export const isConfigOf = (kind: RunnerKind, config: RunnerConfig): boolean => kindOfConfig(config) === kind

/** One thing that a check of a runner looked at. */
export const RunnerCheckStep = z.object({
  name: z.string().describe('What was looked at: `reach`, `git`, `disk`, …'),
  ok: z.boolean(),
  message: z.string().describe('What was found, in a sentence.'),
  fix: z.string().nullable().describe('What to do about it; null when it is fine.'),
})
export type RunnerCheckStep = z.infer<typeof RunnerCheckStep>

/** Where runs happen. */
export const Runner = z
  .object({
    id: RunnerId,
    name: z.string(),
    kind: z.enum(runnerKinds),
    config: RunnerConfig.optional().describe('For admins only; absent in events, and of this machine.'),
    projects: z.array(ProjectId).nullable().describe('The projects whose runs it takes; null: of all.'),
    capacity: z
      .int()
      .nullable()
      .describe('How many runs it takes at a time; checks and hooks don’t count. null: it has no limit of its own.'),
    running: z.int().describe('The runs on it now.'),
    grace_seconds: z.int().describe('How long a run may be out of contact before it counts as lost.'),
    state: z
      .enum(runnerStates)
      .describe(
        '`unchecked`: its check has not ended yet, so that no run starts there. `outdated`: of another version.',
      ),
    last_error: z.string().nullable().describe('Why it is not ready, and what to do.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Runner' })
export type Runner = z.infer<typeof Runner>

/** The fields of a runner that its creation and its change share. */
export const RunnerFields = z.object({
  name: shownName().min(1).max(100).describe('No other runner has it.'),
  config: RunnerConfig,
  projects: z.array(ProjectId).min(1).max(1_000).nullable(),
  capacity: z.int().min(1).max(1_000),
  grace_seconds: z.int().min(0).max(86_400),
})

export const defaultRunner = { projects: null, capacity: 1, grace_seconds: 600 } as const

/** The kind of a new runner; refuses those that can't be made. */
export const NewRunnerKind = z.enum(runnerKinds).superRefine((kind, context) => {
  const message = notMade[kind]
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

/** Where a run may go: the first of these that is ready and has room. */
export const RunnerIds = z.array(RunnerId).min(1).max(20)
