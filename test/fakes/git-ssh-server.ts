import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findOnPath } from '../../src-main/platform/process/find-on-path.ts'
import { testGitEnvironment } from '../helpers/git-repository.ts'

const execute = promisify(execFile)

/** The real sshd, which Debian keeps out of the path of users; null where none is installed. */
export const sshd = findOnPath('sshd') ?? ['/usr/sbin/sshd'].find((file) => existsSync(file)) ?? null

/** A real sshd before real repositories. */
export interface GitSshServer extends AsyncDisposable {
  readonly port: number
  /** As `ssh://me@127.0.0.1:1234`. */
  readonly url: string
  /** The folder of its keys and those of its users. */
  readonly folder: string
  /** A key that it accepts. */
  readonly key: string
  /** Its own key, as a line of `known_hosts`. */
  readonly knownHost: string
  /** How many connections there were. */
  connections: number
  /** What it says in place of git, as forges do who know the account but refuse; null: git answers. */
  refuse(words: string | null): Promise<void>
  /** Creates a key, of its user if `accepted`; returns its file. */
  createKey(name: string, options: { readonly passphrase: string; readonly accepted: boolean }): Promise<string>
}

/** Starts a server for the bare repositories below `root`, which are named as `acme/shop.git`. */
export async function startGitSshServer(root: string): Promise<GitSshServer> {
  if (sshd === null) throw new Error('No sshd. Install openssh-server.')
  const program = sshd
  const folder = await mkdtemp(join(tmpdir(), 'copse-git-ssh-'))
  await chmod(folder, 0o700)
  const user = userInfo().username
  const createKey: GitSshServer['createKey'] = async (name, { passphrase, accepted }) => {
    const file = join(folder, name)
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', file])
    if (accepted) await writeFile(join(folder, 'authorized'), await readFile(`${file}.pub`, 'utf8'), { flag: 'a' })
    return file
  }
  await createKey('host', { passphrase: '', accepted: false })
  const key = await createKey('id', { passphrase: '', accepted: true })
  await writeFile(join(folder, 'serve'), serveScript(root, folder), { mode: 0o755 })
  await writeFile(join(folder, 'config'), configOf(folder))
  // Where it runs as root, it wants this folder for the part of it that talks to strangers.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })

  const running = new Map<ChildProcess, Socket>()
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    ssh.connections++
    const args = ['-i', '-f', join(folder, 'config'), '-E', join(folder, 'log')]
    const child = spawn(program, args, { stdio: [socket, socket, 'ignore'] })
    running.set(child, socket)
    child.once('exit', () => {
      running.delete(child)
      socket.destroy()
    })
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [type, id] = (await readFile(join(folder, 'host.pub'), 'utf8')).split(' ')
  const ssh: GitSshServer = {
    port,
    url: `ssh://${user}@127.0.0.1:${port}`,
    folder,
    key,
    knownHost: `[127.0.0.1]:${port} ${type} ${id}\n`,
    connections: 0,
    refuse: async (words) => {
      const file = join(folder, 'refusal')
      if (words === null) await rm(file, { force: true })
      else await writeFile(file, words)
    },
    createKey,
    [Symbol.asyncDispose]: async () => {
      server.close()
      const ends = [...running].map(async ([child, socket]) => {
        const exit = child.exitCode === null ? once(child, 'exit') : null
        child.kill()
        socket.destroy()
        await exit
      })
      await Promise.all(ends)
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
  return ssh
}

/** With another home, so that a shell reads no files of the person who runs the tests. */
const configOf = (folder: string): string => `
HostKey ${folder}/host
AuthorizedKeysFile ${folder}/authorized
ForceCommand ${folder}/serve
SetEnv HOME=${folder}
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
`

/** Does what forges do of a session: git alone, in their own folder. */
const serveScript = (root: string, folder: string): string => `#!/bin/sh
${Object.entries({ ...testGitEnvironment, PATH: process.env['PATH'] ?? '' })
  .map(([name, value]) => `export ${name}='${value}'`)
  .join('\n')}
if [ -f '${folder}/refusal' ]; then cat '${folder}/refusal' >&2; exit 1; fi
set -- $SSH_ORIGINAL_COMMAND
path=$(printf %s "$2" | tr -d "'" | sed 's,^/*,,')
case "$1" in
  git-upload-pack|git-receive-pack) exec git "\${1#git-}" '${root}'/"$path" ;;
esac
exit 1
`
