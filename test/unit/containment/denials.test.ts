import { describe, expect, it, test } from 'vitest'
import { createDenials, readDenial, readOnlyPaths } from '../../../src-main/containment/denials.ts'
import type { Denial } from '../../../src-main/ports/containment.ts'

test.each([
  ['deny network-outbound registry.npmjs.org:443 (host is not on the allow list)', 'host', 'registry.npmjs.org'],
  ['deny network-outbound [2001:db8::1]:443 (no)', 'host', '2001:db8::1'],
  ['deny network-outbound localhost:11434 (host is not on the allow list)', 'host', '127.0.0.1:11434'],
  ['deny network-outbound ::1:8080 (host is not on the allow list)', 'host', '127.0.0.1:8080'],
  ['curl(81) deny(1) network-outbound *:8080', 'host', '*:8080'],
  ['node(77) deny(1) file-write-create /Users/me/.config/x', 'path', '/Users/me/.config/x'],
  ['cat(78) deny(1) file-read-data /Users/me/.ssh/id_ed25519', 'path', '/Users/me/.ssh/id_ed25519'],
  ['node(77) deny(1) mach-lookup com.apple.cfprefsd', 'path', null],
] as const)('%s', (line, what, target) => {
  expect(readDenial(line)?.target ?? null).toBe(target)
  if (target !== null) expect(readDenial(line)?.what).toBe(what)
})

test.each([
  ["Error: EROFS: read-only file system, open '/home/me/.config/x'", ['/home/me/.config/x']],
  ["touch: cannot touch '/home/me/a file': Read-only file system", ['/home/me/a file']],
  ['/bin/sh: 1: cannot create /etc/x: Read-only file system', ['/etc/x']],
  ['bash: line 1: /etc/x: Read-only file system', ['/etc/x']],
  ['mkdir: cannot create directory ‘/opt/x’: Read-only file system', ['/opt/x']],
  ["OSError: [Errno 30] Read-only file system: '/opt/y'", ['/opt/y']],
  ['open /opt/z: read-only file system', ['/opt/z']],
  ['\u001b[31merror\u001b[39m: could not lock config file /r/.git/config: Read-only file system', ['/r/.git/config']],
  ['one\n/a: Read-only file system\n/b: Read-only file system', ['/a', '/b']],
  ['error: could not lock config file .git/config: Read-only file system', []],
  ['all is well with /etc/x', []],
] as const)('%s', (text, paths) => {
  expect(readOnlyPaths(text)).toEqual(paths)
})

describe('the reported denials', () => {
  const listen = () => {
    const told: Denial[] = []
    return { told, denials: createDenials((denial) => told.push(denial)) }
  }

  it('contain each target once, with its count at the end', () => {
    const { told, denials } = listen()
    for (const host of ['a.test', 'b.test', 'a.test', 'a.test']) denials.add({ what: 'host', target: host })
    expect(told).toEqual([
      { what: 'host', target: 'a.test', count: 1 },
      { what: 'host', target: 'b.test', count: 1 },
    ])
    denials.end()
    expect(told.slice(2)).toEqual([{ what: 'host', target: 'a.test', count: 3 }])
  })

  it('are at most a hundred, whatever the run tries', () => {
    const { told, denials } = listen()
    for (let n = 0; n < 1_000; n++) denials.add({ what: 'host', target: `host-${n % 300}.test` })
    denials.end()
    expect(told).toHaveLength(100)
  })
})
