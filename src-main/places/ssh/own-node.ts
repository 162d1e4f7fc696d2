import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { minNode } from '../remote/probe.ts'

/** The Node of this service, which also runs on other machines of its kind. */
export interface OwnNode {
  readonly version: string
  /** Its system and processor. */
  readonly kind: string
  /** Its name there. */
  readonly name: string
  /** The program, packed by gzip. */
  read(): Promise<Uint8Array>
}

/** Returns null where this program has no Node of its own to give: in the desktop app, and if Node needs further files. */
export function findOwnNode(): OwnNode | null {
  const variables = process.config.variables as { readonly node_shared?: unknown }
  if (process.versions['electron'] !== undefined || [true, 'true', 1].includes(variables.node_shared as boolean))
    return null
  const { node: version } = process.versions
  return {
    version,
    kind: `${process.platform} ${process.arch}`,
    name: `node-${version}`,
    read: async () => await promisify(gzip)(await readFile(process.execPath), { level: 1 }),
  }
}

const systems: Readonly<Record<string, string>> = { Linux: 'linux', Darwin: 'darwin' }
const processors: Readonly<Record<string, string>> = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' }

/** Returns a machine's kind, as `uname -s -m` names it. */
export function kindOf(uname: string): string {
  const [system = '', processor = ''] = uname.trim().split(/\s+/)
  return `${systems[system] ?? system.toLowerCase()} ${processors[processor] ?? processor}`
}

/** Returns the beginning of a script that has the Node of its machine as `$node`, or ours where that is missing or too old. */
export const chooseNode = (own: OwnNode | null): string =>
  own === null
    ? 'node=node'
    : `node=node; major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null)
[ "\${major:-0}" -ge ${minNode} ] || node="$PWD/${own.name}"`

/** Says what to do about a machine that our Node doesn't run on. */
export function noNode(own: OwnNode | null, kind: string): string {
  const install = `Install Node ${minNode} or newer there.`
  return own === null || own.kind === kind
    ? install
    : `${install} Copse has one for ${own.kind} alone; that is ${kind}.`
}
