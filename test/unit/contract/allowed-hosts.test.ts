import { expect, test } from 'vitest'
import { hostProblem, localPort, normalHost } from '../../../src-shared/contract/allowed-hosts.ts'

test.each([
  'registry.npmjs.org',
  'Registry.Example.com:8443',
  '*.example.com',
  '*.example.co.uk:443',
  '_dmarc.example.com',
  '192.168.1.20',
  '10.0.0.5:11434',
  'xn--bcher-kva.example',
  '127.0.0.1:11434',
  'localhost:1234',
  '127.0.0.1:1024',
  '127.0.0.1:65535',
])('allows %s', (host) => {
  expect(hostProblem(host)).toBe(null)
})

test.each([
  ['127.0.0.1', 'needs a port'],
  ['localhost', 'needs a port'],
  ['127.1', 'needs a port'],
  ['0x7f.1', 'needs a port'],
  ['017700000001', 'needs a port'],
  ['2852039166', 'link-local'],
  ['127.0.0.1:0', 'no valid port'],
  ['127.0.0.1:65536', 'no valid port'],
  ['127.0.0.1:', 'no valid port'],
  ['127.0.0.1:http', 'no valid port'],
  ['example.com:0', 'no valid port'],
  ['example.com:080', 'no valid port'],
  ['127.0.0.1:1023', 'below 1024'],
  ['127.0.0.1:3128', 'contained runs use it'],
  ['localhost:1080', 'contained runs use it'],
  ['127.0.0.2:80', 'an address of this machine'],
  ['0.0.0.0:80', 'an address of this machine'],
  ['[::1]:80', 'an address of this machine'],
  ['::1', 'an address of this machine'],
  ['[::ffff:127.0.0.1]:80', 'an address of this machine'],
  ['model.localhost:80', 'an address of this machine'],
  ['*.localhost', 'an address of this machine'],
  ['localhost.localdomain:80', 'an address of this machine'],
  ['169.254.169.254', 'link-local'],
  ['169.254.0.9:80', 'link-local'],
  ['100.100.100.200', 'link-local'],
  ['metadata.google.internal', 'link-local'],
  ['224.0.0.1', 'a single host'],
  ['255.255.255.255', 'a single host'],
  ['*.com', 'strangers'],
  ['*.co.uk', 'strangers'],
  ['*.com.au:443', 'strangers'],
  ['10.0.0.0/8', 'a range'],
  ['10.0.0.*', 'a range'],
  ['10.0.0.1-10.0.0.9', 'a range'],
  ['10.0.0.1-9', 'a range'],
  ['*.0.0.1', 'a range'],
  ['fd00::/8', 'a range'],
  ['[2001:db8::1]:443', 'an IPv6 address'],
  ['https://registry.npmjs.org/', 'a URL'],
  ['registry', 'isn’t a host'],
  ['*', 'isn’t a host'],
  ['*.*.com', 'isn’t a host'],
  ['a b.com', 'isn’t a host'],
  ['example.com.', 'isn’t a host'],
  ['1.2.3.999', 'isn’t a host'],
  ['', 'isn’t a host'],
])('refuses %s: %s', (host, why) => {
  expect(hostProblem(host)?.replaceAll("'", '’')).toContain(why)
})

test.each([
  ['localhost:11434', '127.0.0.1:11434', 11_434],
  ['LOCALHOST:8080', '127.0.0.1:8080', 8_080],
  ['127.1:8080', '127.0.0.1:8080', 8_080],
  ['localhost:80', '127.0.0.1:80', null],
  ['10.1:80', '10.0.0.1:80', null],
  ['Example.com', 'Example.com', null],
  ['*.example.com', '*.example.com', null],
])('saves %s as %s', (text, saved, port) => {
  expect(normalHost(text)).toBe(saved)
  expect(localPort(text)).toBe(port)
})
