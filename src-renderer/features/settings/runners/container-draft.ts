import { containerNetworks, type ContainerConfig } from '../../../../src-shared/contract/runners.ts'
import { linesOf, numberOf } from './draft-values.ts'

type ContainerNetwork = (typeof containerNetworks)[number]

/** The configuration of containers while it is edited. */
export interface ContainerDraft {
  /** `image`: the one named. `project`: that of each project's dev container. */
  source: 'image' | 'project'
  image: string
  /** `first`: the first that answers. `socket`: the one at `socket`. */
  engine: 'first' | 'docker' | 'podman' | 'socket'
  socket: string
  cpus: string
  memory: string
  network: ContainerNetwork
  /** One path per line. */
  read: string
  write: string
  /** One command per line. */
  setup: string
}

export const sourceLabels: Readonly<Record<ContainerDraft['source'], string>> = {
  image: 'An image',
  project: 'The project’s dev container',
}

export const engineLabels: Readonly<Record<ContainerDraft['engine'], string>> = {
  first: 'Docker or Podman, the first that answers',
  docker: 'Docker',
  podman: 'Podman',
  socket: 'A socket…',
}

const networkLabels: Readonly<Record<ContainerNetwork, string>> = {
  open: 'The network of this machine',
  hosts: 'Only the allowed hosts',
  none: 'Only Copse',
}

/** The networks that can be chosen. */
export const networkChoices = containerNetworks.map((network) => ({ id: network, label: networkLabels[network] }))

/** Returns the draft of a configuration; of a new one without it. */
export function containerDraft(config?: ContainerConfig): ContainerDraft {
  const engine = config?.engine ?? null
  const isSocket = engine !== null && engine !== 'docker' && engine !== 'podman'
  return {
    source: config?.devcontainer === true ? 'project' : 'image',
    image: config?.image ?? '',
    engine: engine === null ? 'first' : isSocket ? 'socket' : engine,
    socket: isSocket ? engine : '',
    cpus: String(config?.cpus ?? ''),
    memory: String(config?.memory_mb ?? ''),
    network: config?.network ?? 'open',
    read: (config?.mounts?.read ?? []).join('\n'),
    write: (config?.mounts?.write ?? []).join('\n'),
    setup: (config?.setup ?? []).join('\n'),
  }
}

/** Returns whether a draft has values in the fields that are folded at first. */
export const hasContainerExtras = ({ read, write, setup }: ContainerDraft): boolean =>
  [read, write, setup].some((text) => text.trim() !== '')

/** Returns what is still missing, or null. */
export function missingOfContainer(draft: ContainerDraft): string | null {
  if (draft.source === 'image' && draft.image.trim() === '') return 'Name an image'
  if (draft.source === 'image' && /\s/.test(draft.image.trim())) return 'An image has no spaces in its name'
  if (draft.engine === 'socket' && !/^unix:\/\/\/\S+$/.test(draft.socket.trim()))
    return 'Write the socket as unix:///run/…'
  if (draft.cpus.trim() !== '' && !(Number(draft.cpus) >= 0.1)) return 'Use at least 0.1 processors'
  if (draft.memory.trim() !== '' && !(Number(draft.memory) >= 64 && Number.isInteger(Number(draft.memory))))
    return 'Use at least 64 MB of memory'
  return null
}

/** Returns the configuration of a draft; `before` is the saved one. */
export function containerConfig(draft: ContainerDraft, before?: ContainerConfig): ContainerConfig {
  const [read, write] = [linesOf(draft.read), linesOf(draft.write)]
  const [cpus, memory_mb] = [numberOf(draft.cpus), numberOf(draft.memory)]
  // A saved command can have several lines, so unchanged ones stay as they are.
  const isSame = before !== undefined && draft.setup === before.setup.join('\n')
  return {
    engine: engineOf(draft),
    ...(draft.source === 'image' && { image: draft.image.trim() }),
    devcontainer: draft.source === 'project',
    ...(cpus !== undefined && { cpus }),
    ...(memory_mb !== undefined && { memory_mb }),
    network: draft.network,
    ...(read.length + write.length > 0 && { mounts: { read, write } }),
    setup: isSame ? before.setup : linesOf(draft.setup),
  }
}

function engineOf({ engine, socket }: ContainerDraft): ContainerConfig['engine'] {
  if (engine === 'first') return null
  return engine === 'socket' ? socket.trim() : engine
}
