import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BoxRequest } from '../ports/containment.ts'
import { cachesIn } from './caches.ts'
import { isHideable, keys, readableIn } from './home.ts'
import { inFull, isWithin } from '../platform/path-names.ts'

export interface Places {
  readonly allowWrite: string[]
  readonly denyWrite: string[]
  readonly denyRead: string[]
  readonly allowRead: string[]
  /** The home folders that are hidden but for what is allowed, as the run names them; its own is the first. */
  readonly homes: readonly string[]
}

/**
 * Sockets of the machine's services (Docker, systemd, D-Bus, keyrings, containers) and, below `/tmp` wherever temporary
 * files are, of the person's terminals, displays and SSH agents.
 */
const sockets = ['/run', '/var/run', '/var/snap/lxd', '/var/lib/lxd', '/var/lib/incus', '/tmp']
/** What names are resolved by. Files only: a socket beside them would resolve any name for a run without a network. */
const resolvers = [
  ...['/run/systemd/resolve/stub-resolv.conf', '/run/systemd/resolve/resolv.conf', '/run/resolvconf/resolv.conf'],
  ...['/run/NetworkManager/resolv.conf', '/run/NetworkManager/no-stub-resolv.conf', '/run/connman/resolv.conf'],
]

export interface OwnPlaces {
  readonly dataDir: string
  /** The data folders of other services of this account. */
  readonly otherData: () => readonly string[]
  readonly workspaceRoot: string
  /** Folders below home with agents' credentials, with `~`. A run can't read them unless its own agent names them. */
  readonly credentials: () => readonly string[]
  /** Files of refs that the run may not move. */
  readonly heldRefs: readonly string[]
  /** The run's own temporary folder. */
  readonly temporary: string
  /** Files written for this run. */
  readonly given: readonly string[]
  /** Whether the run has a view of the common git folder, so that it needs nothing in the real one. */
  readonly hasView: boolean
}

/**
 * Returns what a run in this worktree may write and may not read. Leaves out missing paths, because the library would
 * create them.
 */
export function placesOf(request: BoxRequest, ownPlaces: OwnPlaces): Places {
  const { cwd, read = [], write = [] } = request
  const home = homedir()
  const homes = [...new Set([request.home ?? home, home])]
  const hiddenHomes = homes.filter(isHideable)
  const git = ownPlaces.hasView ? { read: [], write: [], protected: [join(cwd, '.git')] } : gitFoldersOf(cwd)
  const inHome = (names: readonly string[]) => homes.flatMap((one) => names.map((name) => join(one, name)))
  // Another agent's configuration can hide only that folder.
  const hidden = ownPlaces
    .credentials()
    .filter((folder) => !write.includes(folder))
    .map(inFull)
    .filter((folder) => !isWithin(home, folder) && !isWithin(cwd, folder))
  const runtime = process.env['XDG_RUNTIME_DIR']
  return {
    allowWrite: there([cwd, ownPlaces.temporary, ...git.write, ...cachesIn(homes), ...write.map(inFull)]),
    denyWrite: there([...git.protected, ...ownPlaces.heldRefs]),
    denyRead: there([
      ...hiddenHomes,
      ownPlaces.dataDir,
      ...ownPlaces.otherData(),
      ownPlaces.workspaceRoot,
      tmpdir(),
      ...inHome(keys),
      ...sockets,
      ...(runtime === undefined ? [] : [runtime]),
      ...hidden,
    ]),
    allowRead: [
      ...there([
        cwd,
        ownPlaces.temporary,
        ...git.read,
        ...resolvers,
        ...ownPlaces.given,
        ...[...read, ...write].map(inFull),
      ]),
      // Shown under their own names, because programs find them through links.
      ...hiddenHomes
        .flatMap((one) => readableIn(one, request.owner))
        .filter((path) => !hidden.some((folder) => isWithin(path, folder))),
    ],
    homes: hiddenHomes,
  }
}

/** Returns whether a run may write a path, by name only. */
export function isWritable(path: string, { allowWrite, denyWrite }: Places): boolean {
  const isIn = (folder: string): boolean => isWithin(path, folder)
  return allowWrite.some(isIn) && !denyWrite.some(isIn)
}

/** Returns whether a path is there, but not for the run; by name only. */
export function isHidden(path: string, { allowRead, allowWrite, denyRead }: Places): boolean {
  const deepest = (folders: readonly string[]): number =>
    Math.max(-1, ...folders.filter((folder) => isWithin(path, folder)).map((folder) => folder.length))
  return deepest(denyRead) > deepest([...allowRead, ...allowWrite]) && existsSync(path)
}

interface GitFolders {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly protected: readonly string[]
}

/** Folders of the shared git directory that a commit writes. */
const written = ['objects', 'refs', 'logs']

/** Returns the paths that git writes for a commit here, and paths that would make git run programs for others. */
export function gitFoldersOf(cwd: string): GitFolders {
  const dotGit = join(cwd, '.git')
  if (!existsSync(dotGit)) return { read: [], write: [], protected: [] }
  if (statSync(dotGit).isDirectory()) {
    const names = ['config', 'config.worktree', 'hooks', 'info', 'objects/info']
    return { read: [], write: [], protected: names.map((name) => join(dotGit, name)) }
  }
  const gitDir = resolve(
    cwd,
    readFileSync(dotGit, 'utf8')
      .replace(/^gitdir:\s*/, '')
      .trim(),
  )
  const common = resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim())
  return {
    // Listed one by one, because read access to the whole folder would override write access within it.
    read: readdirSync(common)
      .filter((name) => name !== 'worktrees' && !written.includes(name))
      .map((name) => join(common, name)),
    write: [gitDir, ...written.map((name) => join(common, name))],
    protected: [
      dotGit,
      ...['config.worktree', 'commondir', 'gitdir'].map((name) => join(gitDir, name)),
      join(common, 'objects', 'info'),
    ],
  }
}

const there = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))),
]
