import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import type { Logger } from '../platform/logging/log.ts'
import type { Box, BoxedCommand } from '../platform/process/box.ts'
import { listeningScript, type Forwarder } from '../platform/process/port-forwarders.ts'
import { quoted } from '../platform/process/process-shell.ts'
import { makeTemporary, privateFoldersIn, removeTemporary } from '../platform/process/run-folders.ts'
import { treeVariable } from '../platform/process/tree-variable.ts'
import { waitingScript } from '../platform/process/wait-for-others.ts'
import type { BoxRequest, ContainedBox } from '../ports/containment.ts'
import type { GitView, GitViews } from '../ports/git-views.ts'
import { makeCaches } from './caches.ts'
import { createCgroup } from './cgroup.ts'
import { canEndGently } from './machine.ts'
import { alone, mountedLast, readBwrap, type BwrapCommand } from './bwrap-command.ts'
import { createDenials, missingPaths, readDenial, readOnlyPaths, type Denials } from './denials.ts'
import { heldRefs } from './held-refs.ts'
import { createHostLists, forwardHosts, noProxyVariables, type HostLists } from './host-lists.ts'
import { openHomes, type OpenHomes } from './open-homes.ts'
import { loadLibrary, watchDenials, withOpenNetwork } from './library.ts'
import { isHidden, isWritable, placesOf, type OwnPlaces, type Places } from './places.ts'
import { watchAnswers } from './watch-answers.ts'
import { containedVariables } from './variables.ts'

export interface BoxOptions extends Pick<OwnPlaces, 'dataDir' | 'otherData' | 'workspaceRoot' | 'credentials'> {
  /** Returns the API's URL once it listens. */
  readonly apiUrl: () => string | null
  /** Gives runs views of common git folders; without it they write the repository's own. */
  readonly views?: GitViews | undefined
  /** Logs a run's peak use, where the kernel counts that. */
  readonly log?: Logger
}

/** Creates the box of a run. The library must be held while the box is used. */
export function createBox(options: BoxOptions, request: BoxRequest): ContainedBox {
  const denials = createDenials(request.onDenied ?? (() => undefined))
  const hosts = createHostLists(request)
  let places: Places | null = null
  return {
    contain: (command) => contain(options, request, { command, denials, hosts, onPlaces: (made) => (places = made) }),
    allowHost: hosts.allow,
    onOutput: (text) => {
      if (places === null) return
      for (const path of readOnlyPaths(text)) if (!isWritable(path, places)) denials.add(pathDenial(path, 'write'))
      for (const path of missingPaths(text)) if (isHidden(path, places)) denials.add(pathDenial(path, 'read'))
    },
  }
}

const pathDenial = (target: string, access: 'read' | 'write') => ({ what: 'path', target, access }) as const

interface Start {
  readonly command: BoxedCommand
  readonly denials: Denials
  readonly hosts: HostLists
  readonly onPlaces: (places: Places) => void
}

async function contain(
  { apiUrl, log, views, ...own }: BoxOptions,
  request: BoxRequest,
  { command: { file, args, env }, denials, hosts, onPlaces }: Start,
): ReturnType<Box['contain']> {
  const manager = await loadLibrary()
  const temporary = await makeTemporary()
  const cgroup = await createCgroup(basename(temporary))
  const id = randomBytes(24).toString('base64url')
  let forwarders: readonly Forwarder[] = []
  let view: GitView | null = null
  let homes: OpenHomes | null = null
  const unwatch = await watchDenials(id, (line) => {
    const denial = readDenial(line)
    if (denial) denials.add(denial)
  })
  const unwatchAnswers = request.onAnswer && watchAnswers(id, request.onAnswer)
  const release = async (): Promise<void> => {
    unwatch()
    unwatchAnswers?.()
    // What could not be taken over shows as what it is: a write that was not let through.
    for (const path of (await view?.close()) ?? []) denials.add(pathDenial(path, 'write'))
    denials.end()
    await homes?.close()
    hosts.remove(manager, id)
    manager.cleanupAfterCommand()
    await Promise.all(forwarders.map((forwarder) => forwarder[Symbol.asyncDispose]()))
    const peak = await cgroup?.end()
    if (peak && peak.memory_bytes !== null) log?.info({ ...peak, program: file }, 'a contained run ended')
    await removeTemporary(temporary)
  }
  try {
    const limited = request.level === 'worktree_and_hosts'
    // On other systems a run has the machine's own loopback interface, as far as its profile allows.
    if (limited && process.platform === 'linux') {
      const run = { folder: temporary, processMarker: env[treeVariable] ?? '' }
      forwarders = await forwardHosts(run, apiUrl(), hosts.allowed)
    }
    if (limited) hosts.add(manager, id)
    const sockets = limited ? [manager.getLinuxHttpSocketPath(), manager.getLinuxSocksSocketPath()] : []
    const knowledge = env['SVC_KNOWLEDGE_FILE']
    const given = [
      ...privateFoldersIn([...args, ...Object.values(env)]),
      ...sockets.filter((path) => path !== undefined),
      ...(knowledge === undefined ? [] : [knowledge]),
    ]
    await makeCaches(request.home)
    // Only bubblewrap can show a run another folder in a folder's place.
    view = process.platform === 'linux' ? ((await views?.open(request.cwd)) ?? null) : null
    const held = view === null ? await heldRefs(request.cwd) : []
    const places = placesOf(request, { ...own, temporary, given, heldRefs: held, hasView: view !== null })
    const { homes: hiddenHomes, ...filesystem } = places
    onPlaces(places)
    const opened = process.platform === 'linux' ? await openHomes(request, hiddenHomes, temporary) : null
    homes = opened
    const network = { allowedDomains: [], deniedDomains: [], allowAllUnixSockets: true }
    const gently = canEndGently()
    const variables = [`TMPDIR=${temporary}`, ...(limited ? noProxyVariables : [])]
    const wrap = () =>
      manager.wrapWithSandboxArgv(
        `${listeningScript(forwarders)}exec env ${quoted([...(gently ? hearing : []), ...variables, ...(gently ? waiting : []), file, ...args])}`,
        '/bin/sh',
        { filesystem, ...(limited && { network }) },
        undefined,
        request.cwd,
        { commandId: id, commandText: file },
      )
    const { argv } = await (limited ? wrap() : withOpenNetwork(wrap))
    const [shell = '/bin/sh', ...rest] = argv
    const join = cgroup ? `echo $$ 2>/dev/null >${quoted([cgroup.procs])}; ` : ''
    const ignore = gently ? "trap '' HUP INT QUIT TERM; " : ''
    const mounts = view?.mounts.flatMap(({ from, to, writable }) => [writable ? '--bind' : '--ro-bind', from, to]) ?? []
    const inBox = (command: BwrapCommand): BwrapCommand =>
      mountedLast(opened?.mounted(alone(command)) ?? alone(command), mounts)
    const words = rest.map((word) => {
      const command = readBwrap(word)
      // The caller's `exec` replaces the shell, so that bubblewrap ends with this process.
      return command === null ? word : `${join}${ignore}exec ${quoted(inBox(command))}`
    })
    return { file: shell, args: words, env: containedVariables(env, request.variables ?? []), release }
  } catch (error) {
    await release()
    throw error
  }
}

const hearing = ['--default-signal=HUP,INT,QUIT,TERM']
/** Bubblewrap kills everything once its first program, which it starts as its child, has ended. */
const waiting = ['/bin/sh', '-c', waitingScript(2), 'sh']
