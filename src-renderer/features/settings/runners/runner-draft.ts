import {
  canMakeRunner,
  defaultRunner,
  type ContainerConfig,
  type KubernetesConfig,
  type Runner,
  type RunnerConfig,
  type SshConfig,
} from '../../../../src-shared/contract/runners.ts'
import type { OperationInput } from '../../../../src-shared/contract/operations.ts'
import type { ProjectId } from '../../../../src-shared/contract/ids.ts'
import { containerConfig, containerDraft, missingOfContainer, type ContainerDraft } from './container-draft.ts'
import { kubernetesConfig, kubernetesDraft, missingOfKubernetes, type KubernetesDraft } from './kubernetes-draft.ts'
import { missingOfSsh, sshConfig, sshDraft, type SshDraft } from './ssh-draft.ts'

/** The types of runners that have a form. */
const formKinds = ['container', 'ssh', 'kubernetes', 'daemon'] as const
export type FormKind = (typeof formKinds)[number]

/** The types that a new runner can have. */
export const newRunnerKinds: readonly FormKind[] = formKinds.filter(canMakeRunner)

/** Returns whether there is a form for runners of this type. */
export const hasForm = (kind: Runner['kind']): kind is FormKind => formKinds.some((one) => one === kind)

/** The form data of a runner. Each type has its own part, so that a change of the type loses nothing. */
export interface RunnerDraft {
  kind: FormKind
  name: string
  capacity: string
  /** How long a run may be out of contact, in seconds; a container never is. */
  grace: string
  /** null: all projects. */
  projects: readonly ProjectId[] | null
  container: ContainerDraft
  ssh: SshDraft
  kubernetes: KubernetesDraft
  /** A machine that connects from its side takes the runs of everyone’s agents. */
  shared: boolean
}

/** Returns the draft of a runner; of a new one without it. */
export function runnerDraft(runner?: Runner): RunnerDraft {
  const { kind, name, capacity, grace_seconds, projects = null, config } = runner ?? {}
  return {
    kind: kind !== undefined && hasForm(kind) ? kind : (newRunnerKinds[0] ?? 'container'),
    name: name ?? '',
    capacity: String(capacity ?? defaultRunner.capacity),
    grace: String(grace_seconds ?? defaultRunner.grace_seconds),
    projects,
    container: containerDraft(containerOf(config)),
    ssh: sshDraft(sshOf(config)),
    kubernetes: kubernetesDraft(kubernetesOf(config)),
    shared: config !== undefined && 'shared' in config && config.shared,
  }
}

export const copyOf = (draft: RunnerDraft): RunnerDraft => ({
  ...draft,
  container: { ...draft.container },
  ssh: { ...draft.ssh },
  kubernetes: { ...draft.kubernetes },
})

/** Returns the first problem that prevents saving, or null. */
export function missingOf(draft: RunnerDraft): string | null {
  const { kind, name, capacity, grace, projects } = draft
  if (name.trim() === '') return 'A runner needs a name'
  const missing = missingOfKind[kind](draft)
  if (missing !== null) return missing
  const runs = Number(capacity)
  if (!(Number.isInteger(runs) && runs >= 1 && runs <= 1_000)) return 'Let it take 1 to 1000 runs'
  const seconds = Number(grace)
  if (hasGrace(kind) && !(grace.trim() !== '' && Number.isInteger(seconds) && seconds >= 0 && seconds <= 86_400))
    return 'Let a run be out of contact for 0 to 86400 seconds'
  return projects?.length === 0 ? 'Choose a project, or all' : null
}

const missingOfKind: Readonly<Record<FormKind, (draft: RunnerDraft) => string | null>> = {
  container: ({ container }) => missingOfContainer(container),
  ssh: ({ ssh }) => missingOfSsh(ssh),
  kubernetes: ({ kubernetes }) => missingOfKubernetes(kubernetes),
  daemon: () => null,
}

/** Returns whether runs of this type can be out of contact. */
export const hasGrace = (kind: FormKind): boolean => kind !== 'container'

type RunnerFields = Pick<
  OperationInput<'runners.create'>,
  'name' | 'config' | 'projects' | 'capacity' | 'grace_seconds'
>

/** Returns the fields to save; `before` is the runner as it is saved. */
export function runnerFields(draft: RunnerDraft, before?: Runner): RunnerFields {
  const { kind, name, capacity, grace, projects } = draft
  const config = configOfKind[kind](draft, before?.config)
  return {
    name: name.trim(),
    config,
    projects: projects && [...projects],
    capacity: Number(capacity),
    ...(hasGrace(kind) && { grace_seconds: Number(grace) }),
  }
}

const configOfKind: Readonly<Record<FormKind, (draft: RunnerDraft, before?: RunnerConfig) => RunnerConfig>> = {
  container: ({ container }, before) => containerConfig(container, containerOf(before)),
  ssh: ({ ssh }) => sshConfig(ssh),
  kubernetes: ({ kubernetes }) => kubernetesConfig(kubernetes),
  daemon: ({ shared }) => ({ shared }),
}

const containerOf = (config: RunnerConfig | undefined): ContainerConfig | undefined =>
  config !== undefined && 'engine' in config ? config : undefined
const kubernetesOf = (config: RunnerConfig | undefined): KubernetesConfig | undefined =>
  config !== undefined && 'namespace' in config ? config : undefined
const sshOf = (config: RunnerConfig | undefined): SshConfig | undefined =>
  config !== undefined && 'host' in config ? config : undefined
