import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createGit } from '../../../../src-main/git/create-git.ts'
import type { ConfiguredPrograms } from '../../../../src-main/ports/repository-reader.ts'
import { sshd, startGitSshServer, type GitSshServer } from '../../../fakes/git-ssh-server.ts'
import { createPushFixture, never, token, type PushFixture } from './push-fixture.ts'

const execute = promisify(execFile)
// `npm test` says how to get it where these are left out; a machine that judges changes must have it.
const runnable = sshd !== null || process.env['CI'] !== undefined

interface SshFixture extends PushFixture {
  readonly ssh: GitSshServer
  /** The address of the repository. */
  readonly at: string
  /** The user's own SSH: which key it has, and which hosts it knows. */
  useSsh(options?: { readonly key?: string; readonly knownHost?: string }): Promise<string>
}

async function createSshFixture(options: Parameters<typeof createPushFixture>[0] = {}): Promise<SshFixture> {
  const fixture = await createPushFixture(options)
  const ssh = await startGitSshServer(fixture.server.root)
  const useSsh: SshFixture['useSsh'] = async ({ key = ssh.key, knownHost = ssh.knownHost } = {}) => {
    const { beside } = fixture.repository
    await writeFile(join(beside, 'known'), knownHost)
    const config = join(beside, 'ssh-config')
    await writeFile(
      config,
      `Host *\n  IdentityFile ${key}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${join(beside, 'known')}\n` +
        `Host forge\n  HostName 127.0.0.1\n  Port ${ssh.port}\n`,
    )
    await fixture.configure(`[core]\n\tsshCommand = ssh -F '${config}'\n`)
    return config
  }
  await useSsh()
  return {
    ...fixture,
    ssh,
    at: `${ssh.url}/${fixture.name}.git`,
    useSsh,
    [Symbol.asyncDispose]: async () => {
      await ssh[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

/** What the service's own environment may have to ask a person. */
const asking = (program: string) => ({ SSH_ASKPASS: program, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' })

describe.runIf(runnable)('over SSH', () => {
  test('pushes, fetches and looks by the user’s key, whatever token there is', async () => {
    await using fixture = await createSshFixture()
    const { at, first, work, pusher, server, name, ssh } = fixture
    expect(await fixture.push({ url: at })).toEqual({ before: null, after: work, hook: 'none' })
    expect(await server.refs(name)).toEqual({ 'refs/heads/main': first, 'refs/heads/task': work })
    const theirs = await fixture.pushByOthers('task', work)
    const request = {
      ...fixture.request({ url: 'forge:acme/shop.git', credential: null }),
      into_ref: 'refs/copse/pulls/1',
    }
    expect(await pusher.head(request, { signal: never })).toBe(theirs)
    expect(await pusher.fetch(request, { signal: never })).toBe(theirs)
    expect(await fixture.refusal({ url: at })).toMatchObject({ code: 'rejected', reason: 'moved' })
    expect(await fixture.push({ url: at, force: { expected: theirs } })).toMatchObject({ after: work })
    expect(server.requests).toEqual([])
    expect(ssh.connections).toBeGreaterThan(5)
    expect(await readFile(join(ssh.folder, 'log'), 'utf8')).not.toContain(token)
  })

  test('says of a hook what it said', async () => {
    await using fixture = await createSshFixture()
    await fixture.server.hook(
      fixture.name,
      'pre-receive',
      'echo "GitLab: You are not allowed to push code to protected branches on this project."; exit 1',
    )
    expect(await fixture.refusal({ url: fixture.at })).toMatchObject({
      reason: 'protected',
      output: expect.stringMatching(/^GitLab: You are not allowed to push/) as unknown,
    })
  })

  test.each([
    ['forbidden', 'ERROR: Permission to acme/shop.git denied to someone.'],
    ['archived', 'ERROR: This repository was archived so it is read-only.'],
    ['not_found', 'ERROR: Repository not found.'],
    [
      'not_found',
      "remote: ERROR: The project you were looking for could not be found or you don't have permission to view it.",
    ],
  ])('%s: %s', async (code, words) => {
    await using fixture = await createSshFixture()
    await fixture.ssh.refuse(`${words}\n`)
    const refused = await fixture.refusal({ url: fixture.at })
    expect(refused).toMatchObject({ code })
    expect(refused.output).toContain(words.replace('remote: ', ''))
  })

  test('finds no repository', async () => {
    await using fixture = await createSshFixture()
    expect(await fixture.refusal({ url: `${fixture.ssh.url}/acme/none.git` })).toMatchObject({ code: 'not_found' })
  })

  test('asks nobody for a passphrase, and takes the key from the agent', async () => {
    await using fixture = await createSshFixture()
    const { ssh, at, repository, work } = fixture
    const asked = join(repository.beside, 'asked')
    const program = join(repository.beside, 'ask')
    await writeFile(program, `#!/bin/sh\ntouch '${asked}'\necho secret\n`)
    await chmod(program, 0o755)
    Object.assign(process.env, asking(program))
    const key = await ssh.createKey('locked', { passphrase: 'secret', accepted: true })
    await fixture.useSsh({ key })
    const refused = await fixture.refusal({ url: at })
    expect(refused).toMatchObject({ code: 'unauthorized' })
    expect(refused.message).toMatch(/accepts none of your SSH keys/)
    expect(await readdir(repository.beside)).not.toContain('asked')

    const socket = join(repository.beside, 'agent')
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      await once(agent.stdout, 'data')
      await execute('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } })
      process.env['SSH_AUTH_SOCK'] = socket
      expect(await fixture.push({ url: at })).toMatchObject({ after: work })
    } finally {
      agent.kill()
      await once(agent, 'exit')
    }
  })

  test('refuses a key of the host that is not known, or another than before', async () => {
    await using fixture = await createSshFixture()
    const { ssh, at } = fixture
    const other = (await readFile(`${ssh.key}.pub`, 'utf8')).split(' ').slice(0, 2).join(' ')
    for (const knownHost of ['', `[127.0.0.1]:${ssh.port} ${other}\n`]) {
      await fixture.useSsh({ knownHost })
      const refused = await fixture.refusal({ url: at })
      expect(refused).toMatchObject({ code: 'unreachable' })
      expect(refused.message).toMatch(/^The SSH host key of 127\.0\.0\.1:\d+ isn’t known/)
    }
  })

  test('refuses a key that the server does not know', async () => {
    await using fixture = await createSshFixture()
    await fixture.useSsh({ key: await fixture.ssh.createKey('strange', { passphrase: '', accepted: false }) })
    expect(await fixture.refusal({ url: fixture.at })).toMatchObject({ code: 'unauthorized' })
  })

  test('runs the repository’s own core.sshCommand only as it was when it was added', async () => {
    let programs: ConfiguredPrograms = {}
    await using fixture = await createSshFixture({ trusted: () => programs })
    const { repository, at, work } = fixture
    const config = await fixture.useSsh()
    await fixture.configure('')
    const proof = join(repository.beside, 'ran')
    await repository.git(['config', 'core.sshCommand', `ssh -F '${config}'`])
    programs = (await createGit().repositories.programs(repository.path, { signal: never })).programs
    expect(await fixture.push({ url: at })).toMatchObject({ after: work })
    await repository.git(['config', 'core.sshCommand', `touch '${proof}'; ssh -F '${config}'`])
    const refused = await fixture.refusal({ url: at, remote_branch: 'b' })
    expect(refused.code).toMatch(/^(?:unreachable|unauthorized)$/)
    expect(refused.message).toContain('core.sshCommand wasn’t used')
    expect(await readdir(repository.beside)).not.toContain('ran')
  })

  test('ends a connection to a server that says nothing', async () => {
    await using fixture = await createSshFixture({ limits: { look_ms: 500, push_ms: 500 } })
    const closed: Promise<unknown>[] = []
    const server = createServer((socket) => closed.push(once(socket.resume(), 'close')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `ssh://me@127.0.0.1:${(server.address() as AddressInfo).port}/acme/shop.git`
    expect(await fixture.refusal({ url })).toMatchObject({ code: 'unreachable' })
    expect(closed).toHaveLength(1)
    await Promise.all(closed)
    server.close()
    await once(server, 'close')
    expect(await fixture.leftFiles()).toEqual([])
  })
})
