import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { orNull } from '../files/file-errors.ts'

// Refs as files, read without git: of a repository, and of a view whose files nobody may trust. Names are in latin1,
// a character for each byte, because git sorts them by bytes.

export interface Refs {
  readonly ids: ReadonlyMap<string, string>
  /** Targets of symbolic refs. */
  readonly symbolic: ReadonlyMap<string, string>
}

/** Returns a ref's name as these files have it. */
export const nameInFiles = (ref: string): string => Buffer.from(ref).toString('latin1')

/** Returns the name, as the rest of Copse has it, of a ref in these files. */
export const nameFromFiles = (ref: string): string => Buffer.from(ref, 'latin1').toString()

const maxRefs = 200_000
const maxRefBytes = 4_096

/** A ref in the list of packed ones, with the object that a tag leads to. */
interface PackedRef {
  readonly id: string
  readonly peeled?: string
}

interface Packed {
  /** Whether each tag in the list tells what it leads to. */
  readonly isPeeled: boolean
  readonly refs: ReadonlyMap<string, PackedRef>
}

/** Reads all refs below a git folder; skips what is no ordinary ref. */
export async function readRefs(folder: string): Promise<Refs> {
  const { refs } = await readPacked(folder)
  const loose = await readLoose(folder)
  const ids = new Map([...refs].map(([ref, { id }]) => [ref, id]))
  for (const [ref, id] of loose.ids) ids.set(ref, id)
  for (const ref of loose.symbolic.keys()) ids.delete(ref)
  return { ids, symbolic: loose.symbolic }
}

/** Copies the refs of a git folder that `isKept` names into an empty one; returns them, and the `rest` of the others. */
export async function copyRefs(
  from: string,
  to: string,
  isKept: (ref: string) => boolean,
): Promise<{ readonly kept: ReadonlyMap<string, string>; readonly rest: ReadonlyMap<string, string> }> {
  const packed = await readPacked(from)
  const loose = await readLoose(from)
  const all = new Map([...packed.refs].filter(([ref]) => isKept(ref)))
  const rest = new Map([...packed.refs].flatMap(([ref, { id }]) => (isKept(ref) ? [] : [[ref, id] as const])))
  for (const [ref, id] of loose.ids)
    if (isKept(ref)) all.set(ref, { id })
    else rest.set(ref, id)
  const symbolic = new Map([...loose.symbolic].filter(([ref]) => isKept(ref)))
  for (const ref of symbolic.keys()) all.delete(ref)
  const isBranch = (ref: string): boolean => /^refs\/(?:heads|remotes)\//.test(ref)
  // A list that claims to tell it of each would hide what an unpacked tag leads to.
  const isPeeled = packed.isPeeled && [...loose.ids.keys()].every(isBranch)
  const lines = [...all]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([ref, { id, peeled }]) => `${id} ${ref}\n${peeled === undefined ? '' : `^${peeled}\n`}`)
  const header = `# pack-refs with: ${isPeeled ? 'peeled fully-peeled ' : ''}sorted \n`
  await writeFile(join(to, 'packed-refs'), header + lines.join(''), 'latin1')
  for (const name of ['refs/heads', 'refs/tags']) await mkdir(join(to, name), { recursive: true })
  for (const [ref, target] of symbolic) await writeRef(to, ref, `ref: ${target}`)
  return { kept: new Map([...all].map(([ref, { id }]) => [ref, id])), rest }
}

/** Writes one ref as a file. */
export async function writeRef(folder: string, ref: string, value: string): Promise<void> {
  await mkdir(placeOf(folder, dirname(ref)), { recursive: true })
  await writeFile(placeOf(folder, ref), `${value}\n`, 'latin1')
}

/** Returns the commit of a ref, through symbolic ones. */
export function resolveRef({ ids, symbolic }: Refs, ref: string): string | null {
  let name = ref
  for (let steps = 0; steps < 5; steps++) {
    const target = symbolic.get(name)
    if (target === undefined) return ids.get(name) ?? null
    name = target
  }
  return null
}

/** Returns whether git accepts a ref of this name, so that one bad name doesn't spoil a list. */
export function isRefName(ref: string): boolean {
  const parts = ref.split('/')
  return (
    /^refs\/.[^\u0000-\u0020\u007f~^:?*[\\]*$/.test(ref) &&
    !/\.\.|@\{/.test(ref) &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock') && !part.endsWith('.'))
  )
}

const id = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

async function readPacked(folder: string): Promise<Packed> {
  const file = join(folder, 'packed-refs')
  const isFile = (await orNull(lstat(file)))?.isFile() === true
  const text = isFile ? ((await orNull(readFile(file, 'latin1'))) ?? '') : ''
  const refs = new Map<string, PackedRef>()
  let last = ''
  for (const line of text.split('\n')) {
    if (line.startsWith('^')) {
      const known = refs.get(last)
      if (known && id.test(line.slice(1))) refs.set(last, { ...known, peeled: line.slice(1) })
      continue
    }
    const at = line.indexOf(' ')
    const [commit, ref] = [line.slice(0, at), line.slice(at + 1)]
    last = ref
    if (id.test(commit) && ref.startsWith('refs/') && refs.size < maxRefs) refs.set(ref, { id: commit })
  }
  return { isPeeled: /^# pack-refs with:.* fully-peeled /.test(text), refs }
}

async function readLoose(folder: string): Promise<Refs> {
  const ids = new Map<string, string>()
  const symbolic = new Map<string, string>()
  const walk = async (name: string): Promise<void> => {
    const place = placeOf(folder, name)
    const entries = (await orNull(readdir(place, { withFileTypes: true, encoding: 'latin1' as BufferEncoding }))) ?? []
    for (const entry of entries) {
      const ref = `${name}/${entry.name}`
      if (ids.size > maxRefs) return
      if (entry.isDirectory()) await walk(ref)
      else if (entry.isFile()) await read(ref)
    }
  }
  const read = async (ref: string): Promise<void> => {
    const file = placeOf(folder, ref)
    if (((await orNull(lstat(file)))?.size ?? maxRefBytes) >= maxRefBytes) return
    const text = ((await orNull(readFile(file, 'latin1'))) ?? '').replace(/[\n\r\t ]+$/, '')
    const target = /^ref: *(refs\/[^\0- ]+)$/.exec(text)?.[1]
    if (target !== undefined) symbolic.set(ref, target)
    else if (id.test(text)) ids.set(ref, text)
  }
  await walk('refs')
  return { ids, symbolic }
}

/** Returns the file with a ref's name in a git folder, or in its `logs`. */
export const placeOf = (folder: string, ref: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(ref, 'latin1')])
