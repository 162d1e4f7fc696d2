import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PushError, type RemoteAddress } from '../../ports/branch-pusher.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { killByMarker } from '../../platform/process/process.ts'
import { treeVariable } from '../../platform/process/tree-variable.ts'
import { createTextTail } from '../../platform/text/text-tail.ts'
import { createLiteralRedactor } from '../../platform/text/redact.ts'
import { withoutTerminalCodes } from '../../platform/text/terminal-codes.ts'
import { orNull } from '../files/file-errors.ts'
import { trustedSetting, type ConfigEntry } from '../commands/configured-programs.ts'
import { isAlive } from '../commands/temporary-folder.ts'
import { readConfig, readGit, runGit, type GitOptions } from '../commands/run-git.ts'
import { requireRepository } from '../worktree/moved-repository.ts'
import { chooseSsh, prepareAccess, type Access } from './access.ts'
import { describeSilence } from './explain-refusal.ts'

/** What a command of git said. */
export interface TransportOutput {
  readonly exit_code: number | null
  readonly stdout: string
  /** The end of stderr, as it came. */
  readonly stderr: string
}

/**
 * A git folder beside the repository's own, for one exchange with a remote. It has the repository's objects, and none of
 * its configuration, hooks and refs, which a run could have written (invariant I10). It lies in the common git folder
 * so that conditions of the user's configuration on the place (`includeIf`) hold.
 */
export interface Transport extends AsyncDisposable {
  readonly folder: string
  readonly common: string
  /** The configuration of the repository. */
  readonly entries: readonly ConfigEntry[]
  readonly access: Access
  /** What names the remote in a command. */
  readonly target: string
  /** Removes secrets and terminal codes from a text. */
  readonly plain: (text: string) => string
  /** Runs git here; rejects with `PushError` if nothing is heard for `silence_ms`. */
  run(
    args: readonly string[],
    options: Cancellable & { readonly silence_ms: number } & Pick<GitOptions, 'hooks'>,
  ): Promise<TransportOutput>
}

/** Settings that the user's configuration may have and that would send more than is asked for. */
const always = ['-c', 'push.pushOption=', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false'] as const

/** Opens a transport. `refs`: names and commits that it has, for what git leaves out because the other side has it. */
export async function openTransport(
  address: RemoteAddress,
  refs: 'all' | readonly (readonly [ref: string, commit: string])[],
  { signal }: Cancellable,
): Promise<Transport> {
  const repo = address.repo_path
  const common = await requireRepository(repo, { signal })
  await removeLeft(common)
  const entries = await readConfig({ common, git_dir: common }, { signal })
  const folder = await mkdtemp(join(common, `copse-transport-${process.pid}-`))
  try {
    const ssh = chooseSsh(entries, trustedSetting(common, 'core.sshcommand', entries))
    const access = await prepareAccess(address, { folder, ...ssh })
    const packed =
      refs === 'all' ? await listRefs(repo, { signal }) : refs.map(([ref, id]) => `${id} ${ref}\n`).join('')
    await writeFolder(folder, common, { packed, config: configOf(address.remote, access.url, entries) })
    return {
      folder,
      common,
      entries,
      access,
      target: address.remote ?? access.url,
      plain: (text) => createLiteralRedactor(access.secrets)(withoutTerminalCodes(text)),
      run: (args, options) => runIn({ repo, folder, common, access }, args, options),
      [Symbol.asyncDispose]: () => removeFolder(folder),
    }
  } catch (error) {
    await removeFolder(folder)
    throw error
  }
}

type Place = Pick<Transport, 'folder' | 'common' | 'access'> & { readonly repo: string }

async function runIn(
  { repo, folder, common, access }: Place,
  args: readonly string[],
  { signal, silence_ms, hooks = 'none' }: Parameters<Transport['run']>[1],
): Promise<TransportOutput> {
  const marker = randomUUID()
  const tail = createTextTail(64 * 1024)
  const silence = new AbortController()
  const timer = setTimeout(
    () => silence.abort(new PushError('unreachable', describeSilence(access.url, silence_ms), {})),
    silence_ms,
  )
  try {
    const { exit_code, stdout } = await runGit(repo, [...always, ...args], {
      signal: AbortSignal.any([signal, silence.signal]),
      accept: [0, 1, 2, 128],
      hooks,
      settings: access.settings,
      env: {
        ...access.env,
        GIT_DIR: folder,
        GIT_OBJECT_DIRECTORY: join(common, 'objects'),
        GIT_ALLOW_PROTOCOL: 'http:https:ssh',
        // Its progress shows that an upload goes on.
        GIT_LFS_FORCE_PROGRESS: '1',
        [treeVariable]: marker,
      },
      onErrorOutput: (chunk) => {
        timer.refresh()
        tail.push(chunk)
      },
    })
    return { exit_code, stdout: stdout.toString('utf8'), stderr: tail.text() }
  } finally {
    clearTimeout(timer)
    // Git doesn't end what it started itself: a hook, or a connection that waits for the other side.
    if (signal.aborted || silence.signal.aborted) await killByMarker(marker, { graceMs: 1_000 })
  }
}

const known = ['refs/heads/', 'refs/remotes/', 'refs/svc/', 'refs/copse/']

/** The repository's branches: what they have needs not be sent, and is known to be whole. */
async function listRefs(repo: string, { signal }: Cancellable): Promise<string> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...known]
  const listed = await readGit(repo, args, { signal })
  return listed === '' ? '' : `${listed}\n`
}

async function writeFolder(
  folder: string,
  common: string,
  { packed, config }: { readonly packed: string; readonly config: string },
): Promise<void> {
  await Promise.all(['refs', 'hooks'].map((name) => mkdir(join(folder, name))))
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/copse-none\n')
  await writeFile(join(folder, 'packed-refs'), packed)
  await writeFile(join(folder, 'config'), config, { mode: 0o600 })
  await orNull(cp(join(common, 'shallow'), join(folder, 'shallow')))
}

/** Returns the transport's configuration. What the repository is like is told again; how it is used is not. */
function configOf(remote: string | null, url: string, entries: readonly ConfigEntry[]): string {
  const valueOf = (name: string) => entries.findLast(({ key }) => key === name)?.value
  const format = valueOf('extensions.objectformat')
  const promisor = entries.find(({ key, value }) => /^remote\..*\.promisor$/s.test(key) && value !== 'false')
  const isPartial = promisor !== undefined || valueOf('extensions.partialclone') !== undefined
  // What a partial clone lacks is fetched from where it is pushed to: any other address could be a run's.
  const name = remote ?? 'copse'
  const extensions = [
    ...(format === undefined ? [] : [`\tobjectFormat = ${quoted(format)}`]),
    ...(isPartial ? [`\tpartialClone = ${quoted(name)}`] : []),
  ]
  const section = [
    `[remote ${quoted(name)}]`,
    `\turl = ${quoted(url)}`,
    ...(isPartial ? ['\tpromisor = true', '\tpartialclonefilter = "blob:none"'] : []),
  ]
  return [
    '[core]',
    `\trepositoryformatversion = ${extensions.length > 0 ? 1 : 0}`,
    '\tbare = true',
    ...(extensions.length > 0 ? ['[extensions]', ...extensions] : []),
    ...(remote !== null || isPartial ? section : []),
    '',
  ].join('\n')
}

const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`

const left = /^copse-transport-(\d+)-/

/** Removes the folders of processes that were killed. */
async function removeLeft(common: string): Promise<void> {
  for (const name of await readdir(common)) {
    const pid = Number(left.exec(name)?.[1] ?? process.pid)
    if (pid !== process.pid && !isAlive(pid)) await removeFolder(join(common, name))
  }
}

const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 })
