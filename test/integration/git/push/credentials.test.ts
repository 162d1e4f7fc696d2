import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gitStatus, startGitHttpServer } from '../../../fakes/git-http-server.ts'
import { createPushFixture, token, variable, type PushFixture } from './push-fixture.ts'

const given = ({ server }: Pick<PushFixture, 'server'>) =>
  server.requests.map(({ authorization }) =>
    authorization === null ? null : Buffer.from(authorization.replace('Basic ', ''), 'base64').toString(),
  )

/** Writes a program that makes `ran` and then does what `script` says; returns its path. */
async function plant({ repository }: PushFixture, name: string, script = ''): Promise<string> {
  const file = join(repository.beside, name)
  await writeFile(file, `#!/bin/sh\ntouch '${join(repository.beside, 'ran')}-${name}'\n${script}\n`)
  await chmod(file, 0o755)
  return file
}

const ran = async ({ repository }: PushFixture) =>
  (await readdir(repository.beside)).filter((name) => name.startsWith('ran-'))

describe('with a token', () => {
  test('signs in as the forge wants it', async () => {
    await using fixture = await createPushFixture()
    fixture.server.users = new Set(['x-access-token'])
    await fixture.push()
    expect(new Set(given(fixture))).toEqual(new Set([null, `x-access-token:${token}`]))
  })

  test('puts the token in no argument and no file', async () => {
    await using fixture = await createPushFixture()
    const { server, repository, name } = fixture
    const words = join(repository.beside, 'words')
    const found = join(repository.beside, 'found')
    await mkdir(found)
    await writeFile(words, token)
    const places = `/proc/[0-9]*/cmdline '${repository.path}'`
    await server.hook(
      name,
      'pre-receive',
      `grep -r -s -a -l -F -f '${words}' ${places} > '${found}/hits'; touch '${found}/looked'`,
    )
    await fixture.push()
    expect((await readdir(found)).toSorted()).toEqual(['hits', 'looked'])
    expect(await readFile(join(found, 'hits'), 'utf8')).toBe('')
  })

  test('asks and tells no helper of the user', async () => {
    await using fixture = await createPushFixture()
    const helper = await plant(fixture, 'helper')
    const { origin } = new URL(fixture.url)
    await fixture.configure(
      `[credential]\n\thelper = "!'${helper}'"\n[credential "${origin}"]\n\thelper = "!'${helper}'"\n\tuseHttpPath = true\n`,
    )
    await fixture.push()
    expect(await ran(fixture)).toEqual([])
  })

  test('replaces what the address itself has', async () => {
    await using fixture = await createPushFixture()
    await fixture.push({ url: fixture.url.replace('://', '://me:old@') })
    expect(new Set(given(fixture))).toEqual(new Set([null, `x-access-token:${token}`]))
  })

  test('keeps it from another host that a redirect leads to', async () => {
    await using fixture = await createPushFixture()
    await using other = await startGitHttpServer()
    const { server, url } = fixture
    for (const status of [301, 302, 307, 308]) {
      other.requests.length = 0
      server.instead = (request) => gitStatus(status, '', { location: `${other.url}${request.url}` })
      expect(await fixture.refusal()).toMatchObject({ code: 'unauthorized' })
      expect(other.requests.length).toBeGreaterThan(0)
      expect(given({ server: other })).toEqual(other.requests.map(() => null))
    }
    server.instead = ({ method, url: at }) =>
      method === 'POST' ? gitStatus(307, '', { location: `${other.url}${at}` }) : null
    other.requests.length = 0
    await fixture.refusal()
    expect(given({ server: other }).filter((one) => one !== null)).toEqual([])
    expect(url).not.toContain(other.url)
  })

  test('keeps it from another origin that the address or the user’s configuration leads to', async () => {
    await using fixture = await createPushFixture()
    await using other = await startGitHttpServer()
    expect(await fixture.refusal({ url: `${other.url}/acme/shop.git` })).toMatchObject({ code: 'unauthorized' })
    await fixture.configure(`[url "${other.url}/"]\n\tinsteadOf = ${fixture.server.url}/\n`)
    expect(await fixture.refusal()).toMatchObject({ code: 'unauthorized' })
    await fixture.configure(
      `[url "${other.url.replace('://', '://x-access-token@')}/"]\n\tinsteadOf = ${fixture.server.url}/\n`,
    )
    expect(await fixture.refusal()).toMatchObject({ code: 'unauthorized' })
    expect(other.requests.length).toBeGreaterThan(2)
    expect(given({ server: other }).filter((one) => one?.includes(token))).toEqual([])
  })

  test('follows a repository that was renamed on its host', async () => {
    await using fixture = await createPushFixture()
    const { server, work } = fixture
    server.instead = ({ url }) =>
      url.startsWith('/old/name')
        ? gitStatus(301, '', { location: `${server.url}${url.replace('/old/name', '/acme/shop')}` })
        : null
    expect(await fixture.push({ url: `${server.url}/old/name.git` })).toMatchObject({ after: work })
  })

  test('says what is wrong with it', async () => {
    await using fixture = await createPushFixture()
    fixture.server.tokens.clear()
    const refused = await fixture.refusal()
    expect(refused).toMatchObject({ code: 'unauthorized', reason: null })
    expect(refused.message).toMatch(new RegExp(`doesn’t accept the token in ${variable}`))
    for (const [value, message] of [
      ['', /is not set/],
      ['two words', /doesn’t hold a token/],
    ] as const) {
      process.env[variable] = value
      const missing = await fixture.refusal()
      expect(missing).toMatchObject({ code: 'missing_secret' })
      expect(missing.message).toMatch(message)
    }
  })

  test('removes it from what the remote says', async () => {
    await using fixture = await createPushFixture()
    const { server, name } = fixture
    const encoded = Buffer.from(`x-access-token:${token}`).toString('base64')
    const [start, end] = [token.slice(0, 9), token.slice(9)]
    await server.hook(
      name,
      'pre-receive',
      `printf 'your token is ${token}, Basic ${encoded},\\n in colour \\033[31m${start}\\033[0m${end}\\033]0;title\\007\\n'; exit 1`,
    )
    const { output, message, reason } = await fixture.refusal()
    expect(output).toBe(
      'your token is [redacted], Basic [redacted],\n in colour [redacted]\n\n[remote rejected] (pre-receive hook declined)',
    )
    expect(reason).toBe('hook')
    expect(message).not.toContain(token)
  })
})

describe('without a token', () => {
  test('signs in by the user’s own helper', async () => {
    await using fixture = await createPushFixture()
    const helper = await plant(fixture, 'helper', `[ "$1" = get ] && printf 'username=me\\npassword=${token}\\n'`)
    await fixture.configure(`[credential]\n\thelper = "!'${helper}'"\n`)
    expect(await fixture.push({ credential: null })).toMatchObject({ after: fixture.work })
    expect(given(fixture)).toContain(`me:${token}`)
  })

  test('signs in by what the address has, and shows it to nobody', async () => {
    await using fixture = await createPushFixture()
    const url = fixture.url.replace('://', `://me:${token}@`)
    expect(await fixture.push({ credential: null, url })).toMatchObject({ after: fixture.work })
    await fixture.server.hook(fixture.name, 'pre-receive', `echo "for ${token}"; exit 1`)
    const refused = await fixture.refusal({ credential: null, url, remote_branch: 'other' })
    expect(`${refused.message}\n${refused.output}`).not.toContain(token)
    expect(refused.output).toContain('for [redacted]')
  })

  test('asks nobody, neither on a terminal nor in a window', async () => {
    await using fixture = await createPushFixture()
    const window = await plant(fixture, 'window', 'echo guess')
    Object.assign(process.env, { SSH_ASKPASS: window, GIT_ASKPASS: window, DISPLAY: ':0' })
    await fixture.configure(`[core]\n\taskPass = "${window}"\n`)
    const refused = await fixture.refusal({ credential: null })
    expect(refused).toMatchObject({ code: 'unauthorized' })
    expect(refused.message).toMatch(/^git isn’t signed in to 127\.0\.0\.1:\d+\./)
    expect(refused.output).not.toContain('copse-transport')
    expect(await ran(fixture)).toEqual([])
  })
})

describe('configuration', () => {
  test('takes the user’s own, also where it depends on the place', async () => {
    await using fixture = await createPushFixture()
    const { repository, server, name } = fixture
    const included = join(repository.beside, 'included')
    await writeFile(included, `[url "${server.url}/${name}"]\n\tinsteadOf = forge:shop\n`)
    await fixture.configure(`[includeIf "gitdir:${repository.path}/"]\n\tpath = ${included}\n`)
    // Written in its way for people, `forge:shop` has no origin, so the token isn't used for it.
    await repository.git(['remote', 'add', 'origin', 'forge:shop.git'])
    const [remote] = await fixture.pusher.remotes(repository.path, { signal: new AbortController().signal })
    expect(remote).toEqual({ name: 'origin', fetch_url: fixture.url, push_urls: [fixture.url] })
    expect(await fixture.push({ remote: 'origin', url: remote?.push_urls[0] ?? '' })).toMatchObject({
      after: fixture.work,
    })
  })

  test('takes nothing of the repository’s that a run could have written', async () => {
    await using fixture = await createPushFixture()
    await using other = await startGitHttpServer()
    const { repository, url, server } = fixture
    const evil = await plant(fixture, 'evil', 'exit 1')
    const settings: Readonly<Record<string, string>> = {
      'core.sshCommand': evil,
      'core.askPass': evil,
      'core.fsmonitor': evil,
      'core.gitProxy': evil,
      'core.alternateRefsCommand': evil,
      'credential.helper': `!${evil}`,
      [`credential.${server.url}.helper`]: `!${evil}`,
      'http.proxy': other.url,
      'http.extraHeader': 'X-Evil: 1',
      'http.cookieFile': evil,
      [`url.${other.url}/.insteadOf`]: `${server.url}/`,
      [`url.${other.url}/.pushInsteadOf`]: `${server.url}/`,
      [`remote.${url}.url`]: `${other.url}/acme/shop.git`,
      [`remote.${url}.receivepack`]: evil,
      'remote.origin.pushurl': `${other.url}/acme/shop.git`,
      'remote.origin.vcs': 'evil',
      'push.recurseSubmodules': 'on-demand',
      'push.gpgSign': 'true',
      'gpg.program': evil,
      'protocol.ext.allow': 'always',
      'include.path': join(repository.beside, 'included'),
    }
    await writeFile(
      join(repository.beside, 'included'),
      `[core]\n\tsshCommand = ${evil}\n[http]\n\tproxy = ${other.url}\n`,
    )
    for (const [key, value] of Object.entries(settings)) await repository.git(['config', key, value])
    expect(await fixture.push({ remote: 'origin' })).toMatchObject({ after: fixture.work })
    expect(await fixture.push({ remote_branch: 'again' })).toMatchObject({ after: fixture.work })
    const refused = await fixture.refusal({ url: `ext::${evil}`, remote_branch: 'third' })
    expect(refused).toMatchObject({ code: 'unreachable' })
    expect(await ran(fixture)).toEqual([])
    expect(other.requests).toEqual([])
  })
})
