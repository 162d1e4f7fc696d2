import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** A job's repository at the service. */
export interface Remote {
  readonly url: string
  readonly token: string
}

interface GitObject {
  readonly id: string
  readonly type: 'commit' | 'tree' | 'blob'
  readonly data: Buffer
}

const types = { commit: 1, tree: 2, blob: 3 } as const
const zero = '0'.repeat(40)

function objectOf(type: GitObject['type'], data: Buffer): GitObject {
  const id = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex')
  return { id, type, data }
}

interface TreeEntry {
  readonly mode: string
  readonly name: string
  readonly id: string
}

export interface Trees {
  /** Returns the entries of the tree that a revision names. */
  read(revision: string): Promise<readonly TreeEntry[]>
  close(): void
}

/** Reads trees of a repository here through one git, which stays. */
export function openTrees(repoPath: string): Trees {
  const git = spawn('git', ['-C', repoPath, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const asked: ((data: Buffer) => void)[] = []
  let held = Buffer.alloc(0)
  git.stdout.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n')) {
      const size = Number(/ tree (\d+)$/.exec(held.subarray(0, end).toString('latin1'))?.[1] ?? -1)
      if (held.length < end + size + 2) return
      asked.shift()?.(held.subarray(end + 1, end + 1 + size))
      held = held.subarray(end + size + 2)
    }
  })
  return {
    read: async (revision) => {
      const data = await new Promise<Buffer>((resolve) => {
        asked.push(resolve)
        git.stdin.write(`${revision}\n`)
      })
      return entriesOf(data)
    },
    close: () => git.stdin.end(),
  }
}

function entriesOf(tree: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < tree.length;) {
    const end = tree.indexOf(0, at)
    const [mode = '', name = ''] = tree.subarray(at, end).toString('utf8').split(' ')
    entries.push({ mode, name, id: tree.subarray(end + 1, end + 21).toString('hex') })
    at = end + 21
  }
  return entries
}

const treeOf = (entries: readonly TreeEntry[]): GitObject =>
  objectOf(
    'tree',
    Buffer.concat(
      entries.map(({ mode, name, id }) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])),
    ),
  )

/** The folders of a benched repository, each with a file from the start, so that its trees stay small. */
export const folders = Array.from({ length: 32 }, (_, index) => `d${String(index).padStart(2, '0')}`)

export interface NewCommit {
  readonly id: string
  readonly objects: readonly GitObject[]
}

/** Returns a commit on `parent` in which a folder has a file more. */
export async function commitFile(
  trees: Trees,
  parent: string,
  { folder, name, text }: { readonly folder: string; readonly name: string; readonly text: string },
): Promise<NewCommit> {
  const [root, within] = await Promise.all([trees.read(`${parent}^{tree}`), trees.read(`${parent}:${folder}`)])
  const blob = objectOf('blob', Buffer.from(text))
  const added = [...within, { mode: '100644', name, id: blob.id }]
  const own = treeOf(added.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
  const whole = treeOf(root.map((entry) => (entry.name === folder ? { ...entry, id: own.id } : entry)))
  const who = `Bench <bench@copse.test> ${Math.floor(Date.now() / 1_000)} +0000`
  const lines = [`tree ${whole.id}`, `parent ${parent}`, `author ${who}`, `committer ${who}`, '', 'Work', '']
  const commit = objectOf('commit', Buffer.from(lines.join('\n')))
  return { id: commit.id, objects: [commit, whole, own, blob] }
}

function packOf(objects: readonly GitObject[]): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  const body = Buffer.concat([head, ...objects.flatMap(({ type, data }) => [sizeOf(type, data), deflateSync(data)])])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function sizeOf(type: GitObject['type'], { length }: Buffer): Buffer {
  const bytes = [(types[type] << 4) | (length & 15)]
  for (let left = length >> 4; left > 0; left >>= 7) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128
    bytes.push(left & 127)
  }
  return Buffer.from(bytes)
}

const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text

class GitRefused extends Error {
  override readonly name = 'GitRefused'
}

async function ask({ url, token }: Remote, path: string, body?: { readonly type: string; readonly data: Buffer }) {
  const answer = await fetch(`${url}/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': body.type }) },
    ...(body && { body: new Uint8Array(body.data) }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new GitRefused(`git ${answer.status}`)
  return bytes
}

/** Fetches commits as git does. */
export async function fetchCommits(remote: Remote, ids: readonly string[]): Promise<void> {
  await ask(remote, 'info/refs?service=git-upload-pack')
  const [first = '', ...others] = new Set(ids)
  const wants = [packet(`want ${first} side-band-64k ofs-delta\n`), ...others.map((id) => packet(`want ${id}\n`))]
  const data = Buffer.from(`${wants.join('')}0000${packet('done\n')}`)
  const pack = await ask(remote, 'git-upload-pack', { type: 'application/x-git-upload-pack-request', data })
  if (!pack.includes('PACK')) throw new GitRefused(pack.toString('latin1').slice(0, 200))
}

/** Pushes refs as git does. `refs`: by the name, what it was (null: new) and what it is to be. */
export async function push(
  remote: Remote,
  refs: Readonly<Record<string, readonly [from: string | null, to: string]>>,
  objects: readonly GitObject[],
): Promise<void> {
  await ask(remote, 'info/refs?service=git-receive-pack')
  const commands = Object.entries(refs).map(([ref, [from, to]], index) =>
    packet(`${from ?? zero} ${to} ${ref}${index === 0 ? '\0report-status' : ''}\n`),
  )
  const data = Buffer.concat([Buffer.from(`${commands.join('')}0000`), packOf(objects)])
  const report = await ask(remote, 'git-receive-pack', { type: 'application/x-git-receive-pack-request', data })
  const text = report.toString('latin1')
  if (!text.includes('unpack ok') || /\bng /.test(text)) throw new GitRefused(text.replaceAll(/[^ -~]/g, ' '))
}
