import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { ConflictKind } from '../../../src-shared/contract/conflicts.ts'
import type { GitOutput } from './run-git.ts'
import { pathText } from './tree-paths.ts'

/** A path that git could not merge. */
export interface UnmergedPath {
  /** The path's bytes, one character each, because file names need not be UTF-8. */
  readonly key: string
  readonly path: string
  readonly kind: ConflictKind
}

interface Stages {
  readonly modes: string[]
  readonly numbers: number[]
}

const collision = 'CONFLICT (rename involved in collision)'

/** From the most to the least specific; git documents these texts as stable. */
const kinds: readonly (readonly [prefix: string, kind: ConflictKind])[] = [
  ['CONFLICT (submodule', 'submodule'],
  ['CONFLICT (rename/rename)', 'rename/rename'],
  ['CONFLICT (rename/delete)', 'rename/delete'],
  [collision, 'rename/collision'],
  ['CONFLICT (directory rename', 'rename/directory'],
  ['CONFLICT(directory rename', 'rename/directory'],
  ['CONFLICT (file in way of directory rename)', 'rename/directory'],
  ['CONFLICT (file/directory)', 'file/directory'],
  ['CONFLICT (distinct modes)', 'file/type'],
  ['CONFLICT (modify/delete)', 'modify/delete'],
  ['CONFLICT (binary)', 'binary'],
]

/**
 * Parses the output of `merge-tree -z --messages`: the resulting tree, the stages of each unmerged path, an empty
 * field, and the messages, each with a count, that many paths, a type and a sentence. `paths` is empty after a clean
 * merge.
 */
export function readMerge(
  { exit_code, stdout }: Pick<GitOutput, 'exit_code' | 'stdout'>,
  sides: readonly string[],
): { tree: string; paths: readonly UnmergedPath[] } {
  const fields = stdout.toString('latin1').split('\0')
  const tree = fields[0] ?? ''
  const stages = new Map<string, Stages>()
  let at = 1
  for (; at < fields.length && fields[at] !== ''; at += 1) {
    const [, mode = '', number = '', key = ''] = /^(\d+) [0-9a-f]+ (\d)\t(.*)$/s.exec(fields[at] ?? '') ?? []
    const known = stages.get(key) ?? { modes: [], numbers: [] }
    known.modes.push(mode)
    known.numbers.push(Number(number))
    stages.set(key, known)
  }
  const messages = readMessages(fields.slice(at + 1))
  const types = typesByKey(messages)
  const unmerged = [...stages].map(([key, known]) => ({
    key,
    path: displayed(key, sides),
    kind: kindOf(known, types.get(key) ?? []),
  }))
  const paths = [...unmerged, ...takenForMerged(messages, stages)]
  if (exit_code !== 0 && paths.length === 0) {
    throw new WorkspaceError('git_failed', 'git found a conflict and named no file. Try again.')
  }
  return { tree, paths }
}

interface Message {
  readonly keys: readonly string[]
  readonly type: string
}

function readMessages(fields: readonly string[]): readonly Message[] {
  const messages: Message[] = []
  for (let at = 0; at + 1 < fields.length;) {
    const count = Number(fields[at])
    messages.push({ keys: fields.slice(at + 1, at + 1 + count), type: fields[at + 1 + count] ?? '' })
    at += count + 3
  }
  return messages
}

/** Returns git's conflict types by path. */
function typesByKey(messages: readonly Message[]): ReadonlyMap<string, readonly string[]> {
  const types = new Map<string, string[]>()
  for (const { keys, type } of messages) for (const key of keys) types.set(key, [...(types.get(key) ?? []), type])
  return types
}

/**
 * Returns files that git reports as conflicting but merges, with markers in them: where a conflicting rename meets an
 * empty file of the other side.
 */
function takenForMerged(messages: readonly Message[], stages: ReadonlyMap<string, Stages>): readonly UnmergedPath[] {
  const keys = messages.filter(({ type }) => type === collision).map(({ keys: [onto = ''] }) => onto)
  return [...new Set(keys)]
    .filter((key) => !stages.has(key))
    .map((key) => ({ key, path: pathText(key), kind: 'rename/collision' }))
}

function kindOf({ modes, numbers }: Stages, types: readonly string[]): ConflictKind {
  if (modes.includes('160000')) return 'submodule'
  if (modes.every((mode) => mode === '120000')) return 'symlink'
  for (const [prefix, kind] of kinds) if (types.some((type) => type.startsWith(prefix))) return kind
  if (!numbers.includes(2) || !numbers.includes(3)) return 'modify/delete'
  return numbers.includes(1) ? 'content' : 'add/add'
}

/** Returns the file's own path: where a folder takes its name, git puts it beside, as its name with that of its side. */
function displayed(key: string, sides: readonly string[]): string {
  const path = pathText(key)
  const side = sides.find((name) => path.endsWith(`~${name}`))
  return side === undefined ? path : path.slice(0, -side.length - 1)
}
