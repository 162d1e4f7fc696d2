import { PassThrough } from 'node:stream'
import { GitProtocolError } from '../../ports/arrivals.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { Git } from '../commands/run-git.ts'
import { errorLine, readPktLines } from '../commands/pkt-lines.ts'
import { isVisible, readRefs } from './arrivals-folder.ts'

/** Git repeats in each request what both sides have, which is far less. */
const maxRequestBytes = 16 * 1024 * 1024

/** Collects a request of `git fetch`. Throws `GitProtocolError` if it isn't one of version 0. */
async function readFetch(
  body: AsyncIterable<Uint8Array>,
): Promise<{ readonly request: Buffer; readonly wants: readonly string[] }> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxRequestBytes) throw new GitProtocolError('The request says more than a fetch has to say.')
    parts.push(part)
  }
  const request = Buffer.concat(parts)
  const lines = readPktLines(inOne(request))
  const wants: string[] = []
  for (let line = await lines.line(); line !== null; line = await lines.line()) {
    if (line === 'flush') continue
    const text = line.toString('latin1')
    if (text.startsWith('command=')) throw new GitProtocolError('Only version 0 of git’s protocol is spoken here.')
    const want = /^want ([0-9a-f]{40,64})(?:[ \n]|$)/.exec(text)?.[1]
    if (want !== undefined) wants.push(want)
    else if (text.startsWith('want ')) throw new GitProtocolError('Name what is wanted by its full ID.')
  }
  return { request, wants }
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

/**
 * Returns a sentence if something is wanted that may not be fetched; else null. A commit below what may be fetched is
 * allowed, because the branch may have moved since the client looked. Git checks this too, but of commits alone: it
 * would hand out a file or folder to anyone who names its ID.
 */
async function refuseWants(git: Git, branch: string, wants: readonly string[]): Promise<string | null> {
  const refs = await readRefs(git)
  const tips = new Set([...refs].filter(([ref]) => isVisible(branch, ref)).map(([, id]) => id))
  const others = [...new Set(wants)].filter((id) => !tips.has(id))
  if (others.length === 0) return null
  const refused = 'is not what this job may fetch: its base, its branch and what is below refs/svc/live.'
  const input = others.map((id) => `${id}\n`).join('')
  const { stdout } = await git(['cat-file', '--batch-check=%(objecttype)'], { input })
  const types = stdout.toString('utf8').split('\n')
  const other = others.find((_id, index) => types[index] !== 'commit')
  if (other !== undefined) return `${other} ${refused}`
  const range = [...others, ...[...tips].map((id) => `^${id}`)].map((line) => `${line}\n`).join('')
  const found = await git(['rev-list', '--max-count=1', '--stdin'], { input: range, accept: [0, 128] })
  if (found.exit_code === 0 && found.stdout.length === 0) return null
  return `${others.join(', ')} ${refused}`
}

/** Answers a fetch as git does. */
export async function* sendPack(
  git: Git,
  { folder, branch }: { readonly folder: string; readonly branch: string },
  body: AsyncIterable<Uint8Array>,
  { signal }: Cancellable,
): AsyncGenerator<Uint8Array> {
  const { request, wants } = await readFetch(body)
  const refusal = await refuseWants(git, branch, wants)
  if (refusal !== null) {
    yield errorLine(refusal)
    return
  }
  const stop = new AbortController()
  const output = new PassThrough()
  // Git says in its answer what went wrong; a half answer, the client notices.
  const ended = git(['upload-pack', '--stateless-rpc', '--strict', folder], {
    input: request,
    output,
    signal: AbortSignal.any([signal, stop.signal]),
    accept: [0, 1, 128],
  }).then(
    () => output.end(),
    (error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  try {
    yield* output as AsyncIterable<Uint8Array>
  } finally {
    stop.abort()
    output.destroy()
    await ended
  }
}
