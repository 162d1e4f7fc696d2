import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { quoted } from '../../platform/process/process-shell.ts'
import { flush, pktLine, readPktLines, type PktReader } from '../commands/pkt-lines.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { runGit } from '../commands/run-git.ts'
import { hasLfsObject, lfsObject } from './lfs-store.ts'
import { maxPointerBytes, oidIn } from './pointers.ts'

/**
 * Sets the filter of Git LFS in a clone on a machine that may not have git-lfs, also in the place of one that it has, so
 * that files there are as everywhere. `program` are the words that start `runLfsFilter`.
 */
export async function setLfsFilter(common: string, program: readonly string[], { signal }: Cancellable): Promise<void> {
  for (const [key, value] of [
    ['process', quoted([...program, join(common, 'lfs')])],
    ['required', 'true'],
  ] as const)
    await runGit(common, ['--git-dir', common, 'config', `filter.lfs.${key}`, value], { signal, access: 'write' })
}

/** How much of a file git takes in one line. */
const mostInLine = 65_516

/**
 * Speaks git's protocol of filters: `clean` keeps a file's content in the store of Git LFS and answers its pointer,
 * `smudge` answers the content of a pointer, or the pointer where its object is not there.
 */
export async function runLfsFilter(folder: string, input: AsyncIterable<Uint8Array>, output: Writable): Promise<void> {
  const lines = readPktLines(input)
  const say = async (...parts: readonly Uint8Array[]): Promise<void> => {
    if (!output.write(Buffer.concat(parts))) await once(output, 'drain')
  }
  const sayAll = (...words: readonly string[]) => say(...words.map((word) => pktLine(`${word}\n`)), flush)
  await readList(lines)
  await sayAll('git-filter-server', 'version=2')
  await readList(lines)
  await sayAll('capability=clean', 'capability=smudge')
  const temporary = await mkdtemp(join(tmpdir(), 'copse-lfs-'))
  try {
    for (let asked = await readList(lines); asked !== null; asked = await readList(lines)) {
      const spooled = await spool(lines, join(temporary, 'content'))
      const answer = asked.includes('command=clean') ? await clean(folder, spooled) : await smudge(folder, spooled)
      await sayAll('status=success')
      for await (const chunk of answer) await say(pktLine(chunk))
      // The status stays as it is.
      await say(flush, flush)
    }
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Returns the lines up to the next flush; null at the end. */
async function readList(lines: PktReader): Promise<readonly string[] | null> {
  const list: string[] = []
  for (let line = await lines.line(); line !== 'flush'; line = await lines.line()) {
    if (line === null) return null
    list.push(line.toString('utf8').replace(/\n$/, ''))
  }
  return list
}

interface Spooled {
  readonly file: string
  readonly size: number
  readonly hash: string
  /** What the content names, if it is a pointer. */
  readonly oid: string | null
}

async function spool(lines: PktReader, file: string): Promise<Spooled> {
  const hash = createHash('sha256')
  let size = 0
  const handle: FileHandle = await open(file, 'w', 0o600)
  try {
    for (let line = await lines.line(); line !== 'flush' && line !== null; line = await lines.line()) {
      hash.update(line)
      size += line.length
      await handle.writeFile(line)
    }
  } finally {
    await handle.close()
  }
  const oid = size > maxPointerBytes ? null : oidIn(await readFile(file, 'utf8'))
  return { file, size, hash: hash.digest('hex'), oid }
}

async function clean(folder: string, { file, size, hash, oid }: Spooled): Promise<AsyncIterable<Uint8Array>> {
  if (size === 0 || oid !== null) return createReadStream(file, { highWaterMark: mostInLine })
  if (!(await hasLfsObject(folder, hash))) {
    const target = lfsObject(folder, hash)
    const made = `${target}.${randomUUID()}`
    await mkdir(dirname(target), { recursive: true })
    await copyFile(file, made)
    await rename(made, target)
  }
  return asIterable(Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize ${size}\n`))
}

async function smudge(folder: string, { file, oid }: Spooled): Promise<AsyncIterable<Uint8Array>> {
  const path = oid !== null && (await hasLfsObject(folder, oid)) ? lfsObject(folder, oid) : file
  return createReadStream(path, { highWaterMark: mostInLine })
}

async function* asIterable(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}
