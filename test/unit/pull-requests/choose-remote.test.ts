import { describe, expect, test } from 'vitest'
import { chooseRemote } from '../../../src-main/pull-requests/rules/choose-remote.ts'

const remote = (name: string, ...push_urls: [string, ...string[]]) => ({ name, push_urls })
const target = { clone_url: 'https://github.com/acme/shop.git', ssh_url: 'git@github.com:acme/shop.git' }

describe('one repository under any spelling', () => {
  test.each([
    'https://github.com/acme/shop',
    'https://github.com/acme/shop.git',
    'https://github.com/acme/shop.git/',
    'https://GitHub.com/Acme/Shop.git',
    'HTTPS://github.com:443/acme/shop',
    'https://www.github.com/acme/shop',
    'https://x-access-token:secret@github.com/acme/shop.git',
    'https://github.com/acme/sh%6Fp',
    'git@github.com:acme/shop.git',
    'git@github.com:/acme/shop',
    'github.com:acme/shop',
    'ssh://git@github.com/acme/shop.git',
    'ssh://github.com:22/acme/shop',
    'git+ssh://git@github.com/acme/shop',
    'ssh://git@ssh.github.com:443/acme/shop.git',
  ])('%s', (url) => {
    expect(chooseRemote([remote('work', url)], { named: null, target })).toEqual({
      kind: 'chosen',
      url,
      remote: 'work',
    })
  })

  test.each([
    'https://github.com/acme/shop2',
    'https://github.com/other/shop',
    'https://github.com/acme',
    'https://github.com.evil.example/acme/shop',
    'https://evil.example/github.com/acme/shop',
    'https://github.com@evil.example/acme/shop',
    'https://github.com:8443/acme/shop',
    'http://github.com/acme/shop',
    'ssh://git@github.com:2222/acme/shop',
    'git@work-alias:acme/shop.git',
    'git://github.com/acme/shop',
    'ext::sh -c evil github.com/acme/shop',
    '/srv/git/acme/shop.git',
    '../shop.git',
    'C:\\acme\\shop',
    'C:/acme/shop',
    'file:///acme/shop',
    'https://github.com/acme/sho%',
    '',
  ])('not %s', (url) => {
    expect(chooseRemote([remote('origin', url)], { named: null, target })).toEqual({
      kind: 'chosen',
      url: target.clone_url,
      remote: null,
    })
  })
})

describe('servers with ports and groups of their own', () => {
  const lab = {
    clone_url: 'https://git.example.com:3000/lab/group/sub/app.git',
    ssh_url: 'ssh://git@git.example.com:2222/group/sub/app.git',
  }
  test.each([
    ['https://git.example.com:3000/lab/group/sub/app', true],
    ['ssh://git@git.example.com:2222/group/sub/app', true],
    ['https://git.example.com/lab/group/sub/app', false],
    ['git@git.example.com:group/sub/app.git', false],
    ['https://git.example.com:3000/group/sub/app', false],
    ['http://[::1]:3000/group/sub/app', false],
  ])('%s: %s', (url, isIt) => {
    expect(chooseRemote([remote('a', url)], { named: null, target: lab })).toMatchObject({ remote: isIt ? 'a' : null })
  })

  test('takes the host alone for an SSH address where the forge tells none', () => {
    const target = { clone_url: 'http://[::1]:3000/o/r.git', ssh_url: null }
    const url = 'ssh://git@[::1]:2222/o/r'
    expect(chooseRemote([remote('a', url)], { named: null, target })).toMatchObject({ url, remote: 'a' })
  })
})

describe('which of several', () => {
  const remotes = [
    remote('backup', 'https://github.com/acme/shop'),
    remote('fork', 'git@github.com:me/shop.git'),
    remote('origin', 'git@github.com:acme/shop.git'),
    remote('both', '/srv/mirror.git', 'https://github.com/acme/shop.git'),
  ]
  test('the one that the settings name, whatever its address', () => {
    expect(chooseRemote(remotes, { named: 'fork', target })).toEqual({
      kind: 'chosen',
      url: 'git@github.com:me/shop.git',
      remote: 'fork',
    })
  })

  test('of the named one the address of the target, if it has several', () => {
    expect(chooseRemote(remotes, { named: 'both', target })).toMatchObject({ url: 'https://github.com/acme/shop.git' })
    const other = { clone_url: 'https://example.com/o/r', ssh_url: null }
    expect(chooseRemote(remotes, { named: 'both', target: other })).toMatchObject({ url: '/srv/mirror.git' })
  })

  test('none in place of a named one that is gone', () => {
    expect(chooseRemote(remotes, { named: 'gone', target })).toEqual({ kind: 'no_such_remote' })
  })

  test('origin before others with the same repository, then the first', () => {
    expect(chooseRemote(remotes, { named: null, target })).toMatchObject({ remote: 'origin' })
    expect(chooseRemote(remotes.slice(0, 2), { named: null, target })).toMatchObject({ remote: 'backup' })
    expect(chooseRemote(remotes.slice(3), { named: null, target })).toEqual({
      kind: 'chosen',
      url: 'https://github.com/acme/shop.git',
      remote: 'both',
    })
  })

  test('the remote of the fork, not that of the repository', () => {
    const fork = { clone_url: 'https://github.com/me/shop.git', ssh_url: 'git@github.com:me/shop.git' }
    expect(chooseRemote(remotes, { named: null, target: fork })).toMatchObject({ remote: 'fork' })
  })

  test('the clone URL without a remote', () => {
    expect(chooseRemote([], { named: null, target })).toEqual({ kind: 'chosen', url: target.clone_url, remote: null })
  })
})
