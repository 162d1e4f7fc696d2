import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { PushRequest, PushResult, RemoteAddress } from '../../ports/branch-pusher.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { branchRef, moveRef, resolveCommit } from '../commands/branch.ts'
import { refusalOf, refusalOfHook } from './explain-refusal.ts'
import { findPrePush, writePrePush } from './pre-push-hook.ts'
import { openTransport, type Transport, type TransportOutput } from './transport.ts'

/** How long nothing may be heard of git. */
export interface SilenceLimits {
  readonly look_ms: number
  /** Longer, because a hook here or there may work for a while without a word. */
  readonly push_ms: number
}

type Options = Cancellable & { readonly limits: SilenceLimits }
type BranchRequest = RemoteAddress & { readonly branch: string }

/** Returns the commit of a branch of the remote; null if there is no such branch. */
export async function readRemoteHead(request: BranchRequest, options: Options): Promise<string | null> {
  await using transport = await openTransport(request, [], options)
  return await lookAt(transport, request, options)
}

async function lookAt(
  transport: Transport,
  request: BranchRequest,
  { signal, limits }: Options,
): Promise<string | null> {
  const ref = branchRef(request.branch)
  const args = ['ls-remote', '--quiet', '--refs', transport.target, ref]
  const said = await transport.run(args, { signal, silence_ms: limits.look_ms })
  if (said.exit_code !== 0) throw refusalOf(said, { ...transport, address: request, branch: request.branch })
  // The name is a pattern, which also fits the ends of others.
  return (
    said.stdout
      .split('\n')
      .find((line) => line.endsWith(`\t${ref}`))
      ?.split('\t', 1)[0] ?? null
  )
}

/** The name of what was fetched, in the transport. */
const fetchedRef = 'refs/copse/fetched'

/** Fetches a branch into `into_ref`; null if there is no such branch. */
export async function fetchBranch(
  request: BranchRequest & { readonly into_ref: string },
  options: Options & { readonly perRepository: <T>(work: () => Promise<T>) => Promise<T> },
): Promise<string | null> {
  const { signal, limits, perRepository } = options
  const { repo_path: repo, into_ref: ref } = request
  await using transport = await openTransport(request, 'all', { signal })
  const flags = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance', '--refmap=']
  const args = ['fetch', '--progress', ...flags, transport.target, `+${branchRef(request.branch)}:${fetchedRef}`]
  const said = await transport.run(args, { signal, silence_ms: limits.look_ms })
  if (/^fatal: couldn't find remote ref/m.test(said.stderr)) return null
  if (said.exit_code !== 0) throw refusalOf(said, { ...transport, address: request, branch: request.branch })
  const { stdout } = await transport.run(['rev-parse', fetchedRef], { signal, silence_ms: limits.look_ms })
  const commit = stdout.trim()
  const isSet = await perRepository(async () => {
    const from = await resolveCommit(repo, ref, { signal })
    return from === commit || (await moveRef(repo, ref, { to: commit, from, reason: 'copse: fetch' }, { signal }))
  })
  if (!isSet) throw new WorkspaceError('git_failed', `${ref} could not be set to what was fetched. Try again.`)
  return commit
}

/**
 * Pushes a commit. What the remote has afterwards is looked up there, also when the connection broke: it may have taken
 * the push all the same.
 */
export async function pushCommit(request: PushRequest, options: Options): Promise<PushResult> {
  const { signal } = options
  const target = { ...request, branch: request.remote_branch }
  await using transport = await openTransport(request, [[branchRef(request.branch), request.commit]], { signal })
  const before = await lookAt(transport, target, options)
  if (before === request.commit) return { before, after: before, hook: 'none' }
  const hook = await preparePrePush(request.repo_path, transport)
  const said = await send(request, transport, { ...options, runsHook: hook === 'ran' })
  if (said.exit_code === 0) return { before, after: await lookAt(transport, target, options), hook }
  if (existsSync(failedMark(transport))) throw refusalOfHook(said.stderr, transport.plain)
  const refusal = refusalOf(said, { ...transport, address: request, branch: request.remote_branch })
  if (refusal.code !== 'unreachable') throw refusal
  const after = await lookAt(transport, target, options).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof Error) return null
    throw error
  })
  if (after === request.commit) return { before, after, hook }
  throw refusal
}

/** Deletes a branch of the remote that is at `expected`. What the remote has afterwards is looked up there. */
export async function deleteRemoteBranch(
  request: BranchRequest & { readonly expected: string },
  options: Options,
): Promise<'deleted' | 'gone' | 'moved'> {
  const { signal, limits } = options
  const { branch, expected } = request
  await using transport = await openTransport(request, [], { signal })
  const before = await lookAt(transport, request, options)
  if (before !== expected) return before === null ? 'gone' : 'moved'
  const ref = branchRef(branch)
  const args = ['push', ...pushFlags, `--force-with-lease=${ref}:${expected}`, transport.target, `:${ref}`]
  const said = await transport.run(args, { signal, silence_ms: limits.push_ms })
  if (said.exit_code === 0) return 'deleted'
  const after = await lookAt(transport, request, options)
  if (after !== expected) return after === null ? 'gone' : 'moved'
  throw refusalOf(said, { ...transport, address: request, branch })
}

const failedMark = ({ folder }: Transport): string => join(folder, 'pre-push-failed')
const hooksFolder = ({ folder }: Transport): string => join(folder, 'hooks')

async function preparePrePush(repo: string, transport: Transport): Promise<PushResult['hook']> {
  const hook = await findPrePush(repo, transport.common, transport.entries)
  if (hook.kind !== 'trusted') return hook.kind
  await writePrePush(hook.file, { folder: hooksFolder(transport), repo, failed: failedMark(transport) })
  return 'ran'
}

const pushFlags = ['--porcelain', '--progress', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'] as const

async function send(
  { branch, remote_branch, force }: PushRequest,
  transport: Transport,
  { signal, limits, runsHook }: Options & { readonly runsHook: boolean },
): Promise<TransportOutput> {
  const remoteRef = branchRef(remote_branch)
  const lease = force === null ? [] : [`--force-with-lease=${remoteRef}:${force.expected ?? ''}`]
  return await transport.run(
    [
      ...(runsHook ? ['-c', `core.hooksPath=${hooksFolder(transport)}`] : []),
      'push',
      ...pushFlags,
      ...lease,
      transport.target,
      `${branchRef(branch)}:${remoteRef}`,
    ],
    { signal, silence_ms: limits.push_ms, hooks: runsHook ? 'run' : 'none' },
  )
}
