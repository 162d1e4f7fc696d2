import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findOnPath } from '../../../src-main/platform/process/find-on-path.ts'
import type { AppConfig } from '../../../src-main/platform/config/config.ts'
import { startJob } from '../../helpers/job.ts'
import { runApp } from '../../helpers/running-app.ts'

// Who comes through a tunnel is not the user of this machine, even if that user started the tunnel. Only Linux tells.

const root = mkdtempSync(join(tmpdir(), 'copse-tunnel-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const socat = process.platform === 'linux' ? findOnPath('socat') : null
const sshd = '/usr/sbin/sshd'
const hasSshd = process.platform === 'linux' && process.getuid?.() === 0 && existsSync(sshd)

const unset: Partial<AppConfig> = { registration: null }

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

let count = 0
/** Starts a program that is no child of the service, and waits until it listens. */
async function startApart(port: number, file: string, args: readonly string[]): Promise<Disposable> {
  const pidFile = join(root, `pid-${++count}`)
  const env = { PATH: process.env['PATH'], HOME: root }
  spawn('setsid', ['--fork', 'sh', '-c', 'echo $$ > "$0"; exec "$@"', pidFile, file, ...args], { env, stdio: 'ignore' })
  await vi.waitUntil(() => answers(port), { timeout: 100_000 })
  return { [Symbol.dispose]: () => void process.kill(Number(readFileSync(pidFile, 'utf8'))) }
}

/** Starts a program of this name that passes connections on; with `fork` each by a process of its own. */
async function startTunnel(name: string, url: string) {
  const folder = join(root, `bin-${++count}`)
  mkdirSync(folder)
  const program = join(folder, name)
  symlinkSync(String(socat), program)
  const port = await freePort()
  const to = `TCP4:127.0.0.1:${new URL(url).port}`
  const tunnel = await startApart(port, program, [`TCP4-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`, to])
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => tunnel[Symbol.dispose]() }
}

async function post(url: string, path: string, body: object): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${url}/api/v1${path}`, init)
  const answer = (await response.json()) as { error?: { code: string } }
  return [response.status, answer.error?.code].filter(Boolean).join(' ')
}
const register = (url: string, name: string) =>
  post(url, '/auth/register', { email: `${name}@copse.test`, password: 'correct horse', display_name: name })

describe.runIf(socat !== null)('a tunnel', () => {
  it('is another user, unlike other programs that pass connections on', async () => {
    await using running = await runApp({ unregistered: true, config: unset })
    using ssh = await startTunnel('ssh', running.url)
    using own = await startTunnel('mine', running.url)
    expect(await register(ssh.url, 'mallory')).toBe('403 other_user')
    expect(await register(own.url, 'ada')).toBe('201')
    expect(await register(ssh.url, 'mallory')).toBe('403 other_user')
  })

  it('lets no page in with a one-time code', async () => {
    await using running = await runApp({ unregistered: true })
    using ssh = await startTunnel('ssh', running.url)
    const code = running.app.identity.createLocalCode()
    expect(await post(ssh.url, '/auth/local', { code })).toBe('401 invalid_credentials')
    expect(await post(running.url, '/auth/local', { code })).toBe('200')
  })

  it('passes a person on, and a run with its own token only', async () => {
    await using job = await startJob()
    const { client, url } = job.running
    using ssh = await startTunnel('ssh', url)
    const { token } = await client.call('auth.create_token', { name: 'mine' })
    const ask = (bearer: string) =>
      `curl -s -o /dev/null -w '%{http_code} ' -H "authorization: Bearer ${bearer}" ${ssh.url}/api/v1/projects`
    const command = `{ ${ask(token)}; ${ask('$SVC_API_TOKEN')}; } > answers.new; mv answers.new answers; exec sleep 600`
    const { path } = await job.claim(await job.task(), await job.agent(command))
    await expect.poll(() => existsSync(join(path, 'answers')), { timeout: 100_000 }).toBe(true)
    expect(readFileSync(join(path, 'answers'), 'utf8')).toBe('401 200 ')
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${ssh.url}/api/v1/projects`, { headers })).status).toBe(200)
  })
})

describe.runIf(hasSshd)('ssh itself', () => {
  let config = ''
  let server: Disposable | undefined

  beforeAll(async () => {
    const key = (name: string) => {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(root, name)])
      return readFileSync(join(root, `${name}.pub`), 'utf8')
    }
    const [host, id] = [key('host'), key('id')]
    const port = await freePort()
    const write = (name: string, lines: readonly string[]) => {
      writeFileSync(join(root, name), `${lines.join('\n')}\n`, { mode: 0o600 })
      return join(root, name)
    }
    const keys = write('keys', [id])
    const known = write('known', [`[127.0.0.1]:${port} ${host}`])
    mkdirSync('/run/sshd', { recursive: true })
    const settings = write('sshd_config', [
      ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${join(root, 'host')}`, `AuthorizedKeysFile ${keys}`],
      ...['PidFile none', 'UsePAM no', 'StrictModes no', 'PermitRootLogin yes', 'PasswordAuthentication no'],
    ])
    server = await startApart(port, sshd, ['-D', '-f', settings])
    config = write('ssh_config', [
      ...['Host copse-test', 'HostName 127.0.0.1', `Port ${port}`, `User ${userInfo().username}`],
      ...[`IdentityFile ${join(root, 'id')}`, `UserKnownHostsFile ${known}`, 'IdentitiesOnly yes', 'BatchMode yes'],
    ])
  })
  afterAll(() => server?.[Symbol.dispose]())

  it.each(['-L', '-R'])('is another user with %s', async (direction) => {
    await using running = await runApp({ unregistered: true, config: unset })
    const port = await freePort()
    const forward = `${port}:127.0.0.1:${new URL(running.url).port}`
    using _ = await startApart(port, 'ssh', ['-N', '-F', config, direction, forward, 'copse-test'])
    const url = `http://127.0.0.1:${port}`
    expect(await register(url, 'mallory')).toBe('403 other_user')
    const code = running.app.identity.createLocalCode()
    expect(await post(url, '/auth/local', { code })).toBe('401 invalid_credentials')
    expect(await register(running.url, 'ada')).toBe('201')
  })

  it('passes a run on with its own token only, through the machine’s own sshd', async () => {
    await using job = await startJob()
    const { client, url } = job.running
    const port = await freePort()
    const { token } = await client.call('auth.create_token', { name: 'mine' })
    const forward = `${port}:127.0.0.1:${new URL(url).port}`
    const ask = (bearer: string) =>
      `curl -s -o /dev/null -w '%{http_code} ' --retry 20 --retry-connrefused --retry-delay 1 -H "authorization: Bearer ${bearer}" http://127.0.0.1:${port}/api/v1/projects`
    const command = `ssh -N -F ${config} -L ${forward} copse-test & { ${ask(token)}; ${ask('$SVC_API_TOKEN')}; } > answers.new; mv answers.new answers; kill $!`
    const { path } = await job.claim(await job.task(), await job.agent(command))
    await expect.poll(() => existsSync(join(path, 'answers')), { timeout: 100_000 }).toBe(true)
    expect(readFileSync(join(path, 'answers'), 'utf8')).toBe('401 200 ')
  })
})
