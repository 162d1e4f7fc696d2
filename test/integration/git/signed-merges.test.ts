import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { signCommits } from '../../../src-main/git/commands/sign-commit.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { branch, never, withWork, type WorkspaceFixture } from './workspace-fixture.ts'

const execute = promisify(execFile)
let home = ''
const isMissing = ['gpg', 'gpgconf'].some((name) => spawnSync(name, ['--version']).status !== 0)

/** The user's own configuration of git. */
async function configure(settings: Readonly<Record<string, string>>): Promise<void> {
  const file = join(home, 'gitconfig')
  await writeFile(file, '')
  for (const [key, value] of Object.entries(settings)) await execute('git', ['config', '--file', file, key, value])
  vi.stubEnv('GIT_CONFIG_GLOBAL', file)
  vi.stubEnv('GNUPGHOME', home)
}

async function program(text: string): Promise<string> {
  const file = join(home, 'program')
  await writeFile(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return file
}

const created =
  'echo "[GNUPG:] SIG_CREATED D" >&2; cat > "$0.got"; echo "$@" > "$0.args"; echo "-----BEGIN SIGNED MESSAGE-----"'

async function verified({ repository }: WorkspaceFixture, commit: string): Promise<string> {
  const signers = join(home, 'signers')
  await writeFile(signers, `tests@copse.test ${await readFile(join(home, 'ssh.pub'), 'utf8')}`)
  const args = ['-c', `gpg.ssh.allowedSignersFile=${signers}`, 'log', '-1', '--format=%G?', commit]
  return await repository.git(args, { env: { GNUPGHOME: home } })
}

const open = { 'user.signingKey': 'open@copse.test' }

describe.skipIf(isMissing)('a merge that is to be signed', () => {
  // A key with a passphrase that no agent knows, and one without.
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'gpg-'))
    for (const [name, passphrase] of [
      ['open', ''],
      ['locked', 'secret'],
    ] as const) {
      const make = ['--batch', '--pinentry-mode=loopback', '--passphrase', passphrase, '--quick-gen-key']
      await execute('gpg', ['--homedir', home, ...make, `${name}@copse.test`, 'ed25519', 'sign', 'never'])
    }
    await execute('gpgconf', ['--homedir', home, '--kill', 'all'])
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, 'ssh')])
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', join(home, 'ssh-locked')])
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await execute('gpgconf', ['--homedir', home, '--kill', 'all'])
  })
  afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))

  test.each<[string, () => Record<string, string>]>([
    ['gpg', () => open],
    ['ssh', () => ({ 'gpg.format': 'ssh', 'user.signingKey': join(home, 'ssh') })],
  ])('signs merges with the user’s %s key', async (_name, settings) => {
    await configure(settings())
    for (const strategy of ['merge', 'squash'] as const) {
      await using fixture = await withWork({ 'one.txt': '1\n' })
      await fixture.repository.commit('Mine', { 'mine.txt': 'mine\n' })
      const request = { ...fixture.mergeRequest(), strategy, sign: 'require' as const }
      expect(await fixture.workspaces.merge(request, never)).toMatchObject({ kind: 'merged' })
      expect(await verified(fixture, 'main')).toMatch(/^[GU]$/)
      expect(await fixture.repository.git(['fsck', '--strict', '--no-dangling'])).toBe('')
      expect(await fixture.repository.git(['status', '--porcelain'])).toBe('')
    }
  })

  test.each(['behind', 'in step'])('signs each commit of a rebase whose base is %s', async (how) => {
    await configure(open)
    await using fixture = await withWork({ 'one.txt': '1\n' })
    await fixture.repository.commit('Two', { 'two.txt': '2\n' }, fixture.path)
    if (how === 'behind') await fixture.repository.commit('Mine', { 'mine.txt': 'mine\n' })
    const request = { ...fixture.mergeRequest(), strategy: 'rebase' as const, sign: 'require' as const }
    expect(await fixture.workspaces.merge(request, never)).toMatchObject({ kind: 'merged' })
    expect(await verified(fixture, 'main')).toMatch(/^[GU]$/)
    expect(await verified(fixture, 'main~')).toMatch(/^[GU]$/)
    expect(await fixture.repository.git(['log', '-3', '--format=%s %an', 'main'])).toMatch(/^Two Copse tests/)
  })

  test('gives an x509 program what git gives it', async () => {
    await configure({ 'gpg.format': 'x509', 'gpg.x509.program': await program(created), ...open })
    await using fixture = await withWork({ 'one.txt': '1\n' })
    const request = { ...fixture.mergeRequest(), sign: 'require' as const }
    expect(await fixture.workspaces.merge(request, never)).toMatchObject({ kind: 'merged' })
    expect(await fixture.repository.git(['cat-file', 'commit', 'main'])).toContain(
      'gpgsig -----BEGIN SIGNED MESSAGE-----',
    )
    expect(await readFile(join(home, 'program.args'), 'utf8')).toBe('--status-fd=2 -bsau open@copse.test\n')
    expect(await readFile(join(home, 'program.got'), 'utf8')).toMatch(/^tree .*\n\nMerge the task\n$/s)
  })

  test.each<[string, () => Record<string, string> | Promise<Record<string, string>>, RegExp]>([
    ['a locked gpg key', () => ({ 'user.signingKey': 'locked@copse.test' }), /gpg says: /],
    [
      'a locked ssh key',
      () => ({ 'gpg.format': 'ssh', 'user.signingKey': join(home, 'ssh-locked') }),
      /ssh-keygen says: /,
    ],
    ['no ssh key', () => ({ 'gpg.format': 'ssh' }), /user.signingKey/],
    ['no program', () => ({ ...open, 'gpg.program': '/nowhere/gpg' }), /nowhere/],
    [
      'a program that makes no signature',
      async () => ({ ...open, 'gpg.program': await program('exit 0') }),
      /no signature/,
    ],
  ])('merges unsigned with “try” and not at all with “require” where there is %s', async (_name, settings, why) => {
    await configure(await settings())
    await using fixture = await withWork({ 'one.txt': '1\n' })
    const before = await fixture.repository.git(['rev-parse', 'main'])
    const request = { ...fixture.mergeRequest(), sign: 'require' as const }
    await expect(fixture.workspaces.merge(request, never)).rejects.toThrow(/could not be signed/)
    expect(await fixture.repository.git(['rev-parse', 'main'])).toBe(before)
    const merged = await fixture.workspaces.merge({ ...request, sign: 'try' }, never)
    expect(merged).toMatchObject({ kind: 'merged', unsigned: expect.stringMatching(why) as unknown })
    expect(await verified(fixture, 'main')).toBe('N')
  })

  test('never runs a program that the repository names, and signs nothing by default', async () => {
    await configure(open)
    await using fixture = await withWork({ 'one.txt': '1\n' })
    const { git } = fixture.repository
    await git(['config', 'gpg.program', await program(`touch "$0.ran"; ${created}`)])
    await git(['config', 'commit.gpgSign', 'true'])
    const onto = await git(['rev-parse', 'main'])
    const plain = await fixture.workspaces.prepareMerge({ ...fixture.mergeRequest(), onto }, never)
    expect(await verified(fixture, plain.kind === 'prepared' ? plain.commit : '')).toBe('N')
    await git(['config', '--unset', 'gpg.program'])
    await git(['config', 'gpg.program', await program(`touch "$0.ran"; ${created}`)])
    const request = { ...fixture.mergeRequest(), sign: 'require' as const }
    expect(await fixture.workspaces.merge(request, never)).toMatchObject({ kind: 'merged' })
    await git(['config', '--unset', 'gpg.program'])
    expect(await verified(fixture, 'main')).toMatch(/^[GU]$/)
    await expect(readFile(join(home, 'program.ran'))).rejects.toThrow()
  })

  test('ends a program that does not answer, with all that it has started', async () => {
    await configure({ ...open, 'gpg.program': await program('cd "${0%/*}"; sleep 600 & sleep 600') })
    await using fixture = await withWork({ 'one.txt': '1\n' })
    const to = await fixture.repository.git(['rev-parse', branch])
    const signed = await signCommits(fixture.repository.path, { from: null, to }, { ...never, max_ms: 300 })
    expect(signed).toMatchObject({ kind: 'unsigned', why: expect.stringContaining('did not answer') as unknown })
    expect(processesIn([home])).toEqual([])
  })
})
