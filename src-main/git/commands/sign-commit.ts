import { readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { childEnvironment } from '../../platform/process/process-environment.ts'
import { ProcessStartError, spawnTree } from '../../platform/process/process.ts'
import { findConfig, type ConfigEntry } from './configured-programs.ts'
import { identityOptions } from './identity.ts'
import { readConfig, readGit, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { makeTemporary } from './temporary-folder.ts'

// Git could sign by itself, but not end a program that waits for a passphrase, with all that this has started.

type Options = Pick<GitOptions, 'signal'>

export type Signed =
  | { readonly kind: 'signed'; readonly commit: string }
  | { readonly kind: 'unsigned'; readonly why: string }

const maxMs = 30_000
/** A question of the program would wait on a screen that no one may look at. */
const screens = ['DISPLAY', 'WAYLAND_DISPLAY', 'GPG_TTY', 'SSH_ASKPASS', 'DBUS_SESSION_BUS_ADDRESS']

/**
 * Signs commits with the user's own program and key, as git's configuration names them: `to`, and what it has besides
 * `from` (null: `to` alone). Signed ones stay as they are. Programs that the repository itself names are not run.
 */
export async function signCommits(
  repo: string,
  { from, to }: { readonly from: string | null; readonly to: string },
  { signal, max_ms = maxMs }: Options & { readonly max_ms?: number },
): Promise<Signed> {
  const place = await findConfig(repo, [])
  const signer = await findSigner(repo, place === null ? [] : await readConfig(place, { signal }), { signal })
  const range = from === null ? ['--max-count=1', to] : [`${from}..${to}`]
  const listed = await readGit(repo, ['rev-list', '--reverse', '--topo-order', ...range], { signal })
  const renamed = new Map<string, string>()
  for (const commit of listed.split('\n').filter(Boolean)) {
    const raw = (await runGit(repo, ['cat-file', 'commit', commit], { signal })).stdout
    const made = await signOne(repo, raw, { renamed, signer, signal, max_ms })
    if (made === null) continue
    if (made.kind === 'unsigned') return made
    renamed.set(commit, made.commit)
  }
  return { kind: 'signed', commit: renamed.get(to) ?? to }
}

interface Limited extends Options {
  /** How long one signature may take. */
  readonly max_ms: number
}

interface Signing extends Limited {
  readonly renamed: ReadonlyMap<string, string>
  readonly signer: Signer
}

/** Returns null for a signed commit whose parents stay. */
async function signOne(
  repo: string,
  raw: Buffer,
  { renamed, signer, signal, max_ms }: Signing,
): Promise<Signed | null> {
  const text = raw.toString('latin1')
  const end = text.indexOf('\n\n')
  const headers = text.slice(0, end).split(/\n(?! )/)
  const isMoved = headers.some((line) => line.startsWith('parent ') && renamed.has(line.slice('parent '.length)))
  if (!isMoved && headers.some((line) => line.startsWith('gpgsig'))) return null
  const unsigned = headers
    .filter((line) => !line.startsWith('gpgsig'))
    .map((line) => (line.startsWith('parent ') ? `parent ${renamed.get(line.slice(7)) ?? line.slice(7)}` : line))
  const content = Buffer.from(`${unsigned.join('\n')}${text.slice(end)}`, 'latin1')
  const signature = await signer(content, { signal, max_ms })
  if (typeof signature === 'object') return { kind: 'unsigned', why: signature.why }
  const isSha256 = (unsigned[0] ?? '').length > 'tree '.length + 40
  const header = `${isSha256 ? 'gpgsig-sha256' : 'gpgsig'} ${signature.trimEnd().replaceAll('\n', '\n ')}`
  const signed = Buffer.from(`${[...unsigned, header].join('\n')}${text.slice(end)}`, 'latin1')
  const write = ['hash-object', '-t', 'commit', '-w', '--stdin']
  return { kind: 'signed', commit: await readGit(repo, write, { signal, input: signed, access: 'write' }) }
}

/** Returns the signature, or why there is none. */
type Signer = (content: Buffer, options: Limited) => Promise<string | { readonly why: string }>

async function findSigner(repo: string, entries: readonly ConfigEntry[], { signal }: Options): Promise<Signer> {
  const valueOf = (...keys: readonly string[]) => entries.findLast(({ key }) => keys.includes(key))?.value
  const isUsers = ({ scope }: ConfigEntry): boolean => scope === 'global' || scope === 'system'
  const programOf = (...keys: readonly string[]) =>
    entries
      .filter(isUsers)
      .findLast(({ key }) => keys.includes(key))
      ?.value.replace(/^~(?=\/)/, homedir())
  const key = valueOf('user.signingkey')
  switch (valueOf('gpg.format') ?? 'openpgp') {
    case 'ssh':
      return createSshSigner(programOf('gpg.ssh.program') ?? 'ssh-keygen', key)
    case 'x509':
      return createGpgSigner(programOf('gpg.x509.program') ?? 'gpgsm', key ?? (await committer(repo, { signal })))
    default:
      return createGpgSigner(
        programOf('gpg.program', 'gpg.openpgp.program') ?? 'gpg',
        key ?? (await committer(repo, { signal })),
      )
  }
}

/** Returns whose key signs if none is named, as git does. */
async function committer(repo: string, { signal }: Options): Promise<string> {
  const options = await identityOptions(repo, { signal })
  const ident = await readGit(repo, [...options, 'var', 'GIT_COMMITTER_IDENT'], { signal })
  return ident.replace(/ \d+ [+-]\d+$/, '')
}

function createGpgSigner(program: string, key: string): Signer {
  const isGpg = /^gpg2?(?:\.exe)?$/.test(basename(program))
  const quiet = isGpg ? ['--batch', '--no-tty', '--pinentry-mode=error'] : []
  return async (content, options) => {
    const run = await runSigner(program, [...quiet, '--status-fd=2', '-bsau', key], { ...options, input: content })
    if (typeof run === 'object' && 'why' in run) return run
    const isMade = run.exit_code === 0 && /^\[GNUPG:\] SIG_CREATED /m.test(run.stderr)
    return isMade ? run.stdout : { why: explain(program, run) }
  }
}

function createSshSigner(program: string, key: string | undefined): Signer {
  return async (content, options) => {
    if (key === undefined) return { why: 'git names no key for SSH signatures (user.signingKey)' }
    const temporary = await makeTemporary('signature')
    try {
      const file = join(temporary, 'commit')
      await writeFile(file, content, { mode: 0o600 })
      const isText = /^(?:key::|ssh-)/.test(key)
      const keyFile = isText ? join(temporary, 'key.pub') : key.replace(/^~(?=\/)/, homedir())
      if (isText) await writeFile(keyFile, `${key.replace(/^key::/, '')}\n`, { mode: 0o600 })
      const args = ['-Y', 'sign', '-n', 'git', '-f', keyFile, ...(isText ? ['-U'] : []), file]
      const run = await runSigner(program, args, { ...options, input: null })
      if ('why' in run) return run
      return run.exit_code === 0 ? await readFile(`${file}.sig`, 'utf8') : { why: explain(program, run) }
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  }
}

interface SignerRun {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
}

async function runSigner(
  program: string,
  args: readonly string[],
  { input, signal, max_ms }: Limited & { readonly input: Buffer | null },
): Promise<SignerRun | { readonly why: string }> {
  signal.throwIfAborted()
  const inherited = Object.entries(childEnvironment({})).filter(([name]) => !screens.includes(name))
  const env = { ...Object.fromEntries(inherited), SSH_ASKPASS_REQUIRE: 'never', LC_ALL: 'C' }
  const stdin = input === null ? 'ignore' : 'pipe'
  try {
    const tree = await spawnTree(program, args, { cwd: homedir(), env, stdin })
    const output = Promise.all([readText(tree.stdout), readText(tree.stderr)])
    const late = AbortSignal.any([signal, AbortSignal.timeout(max_ms)])
    const stop = (): void => void tree.stop({ graceMs: 1_000 })
    late.addEventListener('abort', stop, { once: true })
    tree.stdin?.end(input ?? undefined)
    const { exit_code } = await tree.ended
    late.removeEventListener('abort', stop)
    signal.throwIfAborted()
    const [stdout, stderr] = await output
    if (late.aborted) return { why: `${program} did not answer within ${max_ms / 1_000} seconds` }
    return { exit_code, stdout, stderr }
  } catch (error) {
    if (error instanceof ProcessStartError) return { why: error.message }
    throw error
  }
}

/** More is no signature. */
const maxOutput = 64 * 1024

async function readText(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size <= maxOutput) chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function explain(program: string, { exit_code, stderr }: SignerRun): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('[GNUPG:]'))
  const said = lines.slice(-3).join('; ')
  return said === '' ? `${program} ended with exit code ${exit_code} and no signature` : `${program} says: ${said}`
}
