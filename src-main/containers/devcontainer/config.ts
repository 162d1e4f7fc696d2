import { z } from 'zod'
import type { TrustWant } from '../../../src-shared/contract/runner-trust.ts'

const Words = z.union([z.string(), z.array(z.string())])
/** A shell command, a program with its arguments, or several of both that run in parallel. */
const Command = z.union([Words, z.record(z.string(), Words)])
export type Command = z.infer<typeof Command>

const Mount = z.union([
  z.string(),
  z.looseObject({ type: z.string(), source: z.string().optional(), target: z.string() }),
])
export type Mount = z.infer<typeof Mount>

const Variables = z.record(z.string(), z.string().nullable())

/** What can also come from a feature or from the image, which its label `devcontainer.metadata` says. */
const Metadata = z.looseObject({
  remoteUser: z.string().optional(),
  containerUser: z.string().optional(),
  containerEnv: Variables.optional(),
  remoteEnv: Variables.optional(),
  mounts: z.array(Mount).optional(),
  privileged: z.boolean().optional(),
  capAdd: z.array(z.string()).optional(),
  securityOpt: z.array(z.string()).optional(),
  entrypoint: z.string().optional(),
  updateRemoteUserUID: z.boolean().optional(),
  onCreateCommand: Command.optional(),
  updateContentCommand: Command.optional(),
  postCreateCommand: Command.optional(),
  postStartCommand: Command.optional(),
})
export type Metadata = z.infer<typeof Metadata>
export const MetadataList = z.array(Metadata)

/** A `devcontainer.json`, as far as Copse knows it. */
export const DevcontainerConfig = z.looseObject({
  ...Metadata.shape,
  image: z.string().optional(),
  dockerFile: z.string().optional(),
  context: z.string().optional(),
  build: z
    .looseObject({
      dockerfile: z.string().optional(),
      context: z.string().optional(),
      options: z.array(z.string()).optional(),
    })
    .optional(),
  dockerComposeFile: Words.optional(),
  features: z.record(z.string(), z.unknown()).optional(),
  initializeCommand: Command.optional(),
  runArgs: z.array(z.string()).optional(),
})
export type DevcontainerConfig = z.infer<typeof DevcontainerConfig>

/** Returns the commands of one key, each as shell text or words, with its name where they run in parallel. */
export function commandsOf(command: Command | undefined): readonly (string | readonly string[])[] {
  if (command === undefined) return []
  if (typeof command === 'string' || Array.isArray(command)) return command.length === 0 ? [] : [command]
  return Object.values(command)
}

const textOf = (words: string | readonly string[]): string => (typeof words === 'string' ? words : words.join(' '))

/** Returns a mount as the fields that engines read. */
export function mountText(mount: Mount): string {
  if (typeof mount === 'string') return mount
  const { type, source, target } = mount
  return [`type=${type}`, ...(source === undefined ? [] : [`source=${source}`]), `target=${target}`].join(',')
}

/** Names of the machine's variables in a configuration. */
const localVariables = (value: unknown): readonly string[] =>
  [...JSON.stringify(value).matchAll(/\$\{(?:localEnv|env):([^}:"]+)/g)].map(([, name = '']) => name)

/**
 * Returns all by which a dev container reaches the machine of its engine, each once. `metadata`: what its image says,
 * which has what the features add.
 */
export function wantsOf(config: DevcontainerConfig, metadata: readonly Metadata[]): readonly TrustWant[] {
  const privileges = ({ privileged, capAdd = [], securityOpt = [] }: Metadata): readonly string[] => [
    ...(privileged === true ? ['privileged'] : []),
    ...capAdd.map((name) => `capAdd ${name}`),
    ...securityOpt.map((text) => `securityOpt ${text}`),
  ]
  const all = [config, ...metadata]
  const wants: readonly TrustWant[] = [
    ...commandsOf(config.initializeCommand).map((words) => ({ kind: 'command' as const, text: textOf(words) })),
    ...all.flatMap(({ mounts = [] }) => mounts.map((one) => ({ kind: 'mount' as const, text: mountText(one) }))),
    ...[
      ...all.flatMap(privileges),
      ...(config.runArgs ?? []).map((text) => `runArgs ${text}`),
      ...(config.build?.options ?? []).map((text) => `build.options ${text}`),
    ].map((text) => ({ kind: 'privilege' as const, text })),
    ...all.flatMap(localVariables).map((text) => ({ kind: 'variable' as const, text })),
  ]
  const known = new Set<string>()
  return wants.filter(({ kind, text }) => {
    const key = `${kind} ${text}`
    return !known.has(key) && known.add(key)
  })
}

/** Returns the names of the machine's variables that a trusted configuration gets. */
export const variablesIn = (wants: readonly TrustWant[]): readonly string[] =>
  wants.flatMap(({ kind, text }) => (kind === 'variable' ? [text] : []))
