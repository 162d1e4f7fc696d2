import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { parse, type ParseError } from 'jsonc-parser'
import type { BaseCommit, BaseEntry, BaseFiles } from '../../ports/base-files.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ContainmentUnavailable } from '../../ports/containment.ts'
import type { TrustWant } from '../../../src-shared/contract/runner-trust.ts'
import { commandsOf, DevcontainerConfig } from './config.ts'

/** The dev container of a project at a commit. */
export interface Definition {
  readonly base: BaseCommit
  /** Path of the `devcontainer.json` in the repository. */
  readonly path: string
  readonly config: DevcontainerConfig
  /** What it is made of: the configuration, its folder, the Dockerfile and the files that its commands name. */
  readonly files: readonly BaseEntry[]
  /** Changes when the image has to be built again. */
  readonly key: string
}

const folder = '.devcontainer'
const usual = [`${folder}/devcontainer.json`, '.devcontainer.json'] as const

/** Reads a project's dev container from a commit. Throws `ContainmentUnavailable` with what to do if it has none. */
export async function readDefinition(files: BaseFiles, base: BaseCommit, options: Cancellable): Promise<Definition> {
  const found = await files.list(base, [folder, '.devcontainer.json'], options)
  const entry = configIn(found, base)
  const text = await files.read(base, entry, options)
  const config = text === null ? null : parseConfig(text)
  if (config === null)
    throw new ContainmentUnavailable(`${entry.path} in ${shown(base)} can’t be read. Check it with your editor.`)
  if (config.dockerComposeFile !== undefined)
    throw new ContainmentUnavailable(
      `${entry.path} uses Docker Compose, which runners can’t start. Name an image or a Dockerfile in ${usual[0]}. The one with Compose can stay for editors, as ${folder}/compose/devcontainer.json.`,
    )
  const home = posix.dirname(entry.path)
  const dockerfile = config.build?.dockerfile ?? config.dockerFile
  const context = dockerfile === undefined ? null : within(home, config.build?.context ?? config.context ?? '.', entry)
  const named = [
    ...(dockerfile === undefined ? [] : [within(home, dockerfile, entry)]),
    ...namedPaths(config),
    // Features of the repository's own lie beside the configuration, or are named from there.
    ...Object.keys(config.features ?? {}).flatMap((id) => (/^\.\.?\//.test(id) ? [within(home, id, entry)] : [])),
  ]
  const more = named.length === 0 ? [] : await files.list(base, named, options)
  const all = new Map([...found, ...more].map((one) => [one.path, one]))
  const made = [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const inContext = context === null ? [] : await files.list(base, [context], options)
  if (dockerfile !== undefined && all.get(within(home, dockerfile, entry))?.mode.startsWith('100') !== true)
    throw new ContainmentUnavailable(`${entry.path} names ${dockerfile}, which is not a file in ${shown(base)}.`)
  return { base, path: entry.path, config, files: made, key: hashOf([made, inContext]).slice(0, 16) }
}

/** Returns what names the content and the wants that an admin is asked about. */
export const trustHash = ({ path, files }: Definition, wants: readonly TrustWant[]): string =>
  hashOf([path, files, wants])

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

const shown = ({ commit }: BaseCommit): string => `commit ${commit.slice(0, 12)}`

/** Finds the configuration where tools look for it; a link is none, because it could lead out of the repository. */
function configIn(found: readonly BaseEntry[], base: BaseCommit): BaseEntry {
  const isFile = ({ mode }: BaseEntry) => mode.startsWith('100')
  for (const path of usual) {
    const entry = found.find((one) => one.path === path && isFile(one))
    if (entry) return entry
  }
  const others = found.filter((one) => isFile(one) && /^\.devcontainer\/[^/]+\/devcontainer\.json$/.test(one.path))
  const [only, second] = others
  if (only !== undefined && second === undefined) return only
  if (second !== undefined)
    throw new ContainmentUnavailable(
      `${folder} has several dev containers (${others.map(({ path }) => path).join(', ')}). Put one at ${usual[0]}.`,
    )
  throw new ContainmentUnavailable(
    `This project has no ${usual[0]} in ${shown(base)}, where its branches start. Commit one, or choose another runner.`,
  )
}

function parseConfig(text: string): DevcontainerConfig | null {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  return errors.length > 0 ? null : (DevcontainerConfig.safeParse(value).data ?? null)
}

/** Returns a path that a configuration names, from the root of the repository; it must not lead out of it. */
function within(home: string, path: string, { path: config }: BaseEntry): string {
  const full = posix.normalize(posix.join(home, path))
  if (posix.isAbsolute(path) || full === '..' || full.startsWith('../'))
    throw new ContainmentUnavailable(`${config} names ${path}, which is outside the repository.`)
  return full === '.' ? '' : full.replace(/\/$/, '')
}

/** Returns the words of the commands for this machine that can be paths in the repository. */
function namedPaths({ initializeCommand }: DevcontainerConfig): readonly string[] {
  const words = commandsOf(initializeCommand).flatMap((one) =>
    typeof one === 'string' ? one.split(/[\s;&|()"'<>]+/) : one,
  )
  return words
    .map((word) => posix.normalize(word.replace(/^\$\{(?:local|container)WorkspaceFolder\}\//, '')))
    .filter((word) => /^[^-/$\0][^\0]*$/.test(word) && word !== '.' && word !== '..' && !word.startsWith('../'))
}
