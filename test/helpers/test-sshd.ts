import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { sshd } from '../fakes/git-ssh-server.ts'

const execute = promisify(execFile)

/** A real sshd that lets this user in with a shell, and forwards nothing. */
export interface TestSshd extends AsyncDisposable {
  /** An ssh configuration that knows it by the name `far`. */
  readonly ssh_config: string
  /** Cuts all connections. */
  cut(): void
  /** Whether it answers. */
  setUp(up: boolean): void
  connections(): number
}

/** Whether a machine with a network of its own can be made here. */
export const hasOwnNetworks =
  process.platform === 'linux' && spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0

/**
 * Starts it. `home`: the home folder that its shells have; `through` returns the port of what is between, if anything;
 * `path`: their PATH; `ownNetwork`: each connection has a loopback interface of its own.
 */
export async function startTestSshd(
  home: string,
  through: (port: number) => Promise<number> = (port) => Promise.resolve(port),
  path = `${dirname(process.execPath)}:$PATH`,
  ownNetwork = false,
): Promise<TestSshd> {
  if (sshd === null) throw new Error('No sshd. Install openssh-server.')
  const program = sshd
  const folder = await mkdtemp(join(tmpdir(), 'copse-sshd-'))
  await chmod(folder, 0o700)
  const key = async (name: string): Promise<string> => {
    const file = join(folder, name)
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file])
    return file
  }
  const [host, own] = [await key('host'), await key('id')]
  await writeFile(join(folder, 'authorized'), await readFile(`${own}.pub`, 'utf8'))
  // A greeting as shells print it, which is no part of a link.
  const shell = `#!/bin/sh\necho "Welcome to the far machine."\nexport HOME="${home}" XDG_CONFIG_HOME="${home}/.config" PATH="${path}"\ncd "$HOME"\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n`
  await writeFile(join(folder, 'shell'), shell, { mode: 0o755 })
  await writeFile(
    join(folder, 'config'),
    [
      `HostKey ${host}`,
      `AuthorizedKeysFile ${join(folder, 'authorized')}`,
      `ForceCommand ${join(folder, 'shell')}`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'UsePAM no',
      'StrictModes no',
      'AllowTcpForwarding no',
      'AllowStreamLocalForwarding no',
      'PermitTTY no',
      'PermitRootLogin yes',
      '',
    ].join('\n'),
  )
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  const running = new Map<ChildProcess, Socket>()
  let isUp = true
  let count = 0
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined)
    if (!isUp) return void socket.destroy()
    count += 1
    const args = ['-i', '-f', join(folder, 'config'), '-E', join(folder, 'log')]
    const apart = ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', program, ...args]
    const [file, words] = ownNetwork ? ['unshare', apart] : [program, args]
    const child = spawn(file, words, { stdio: [socket, socket, 'ignore'] })
    running.set(child, socket)
    child.once('exit', () => {
      running.delete(child)
      socket.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = await through((server.address() as AddressInfo).port)
  const [type, id] = (await readFile(`${host}.pub`, 'utf8')).split(' ')
  await writeFile(join(folder, 'known'), `[127.0.0.1]:${port} ${type} ${id}\n`)
  const ssh_config = join(folder, 'ssh_config')
  await writeFile(
    ssh_config,
    `Host far\n  HostName 127.0.0.1\n  Port ${port}\n  User ${userInfo().username}\n  IdentityFile ${own}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${join(folder, 'known')}\n`,
  )
  const cut = (): void => {
    for (const [child, socket] of running) {
      child.kill('SIGKILL')
      socket.destroy()
    }
  }
  return {
    ssh_config,
    cut,
    connections: () => count,
    setUp: (up) => (isUp = up),
    [Symbol.asyncDispose]: async () => {
      const ended = [...running.keys()].map((child) => once(child, 'exit'))
      cut()
      await Promise.all(ended)
      server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
