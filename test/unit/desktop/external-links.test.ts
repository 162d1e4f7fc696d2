import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createExternalLinks, linkTreatment } from '../../../src-main/desktop/external-links.ts'

test.each([
  'https://example.com/docs',
  'http://example.com:8080/',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://localhost.example.com/',
  'mailto:ada@example.com',
])('opens %s', (address) => {
  expect(linkTreatment(address)).toBe('open')
})

test.each([
  'http://localhost:3000/',
  'http://LOCALHOST./',
  'http://app.localhost/',
  'http://127.0.0.1:4870/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://0.0.0.0:8080/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://metadata.google.internal/',
  'http://[fe80::1]/',
  'http://10.0.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://100.100.100.200/',
  'http://router/',
  'https://printer.local/',
  'https://user:name@192.168.1.1/',
])('asks before %s', (address) => {
  expect(linkTreatment(address)).toBe('ask')
})

test.each([
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'smb://host/share',
  'vscode://file/etc/passwd',
  'ms-settings:',
  'copse://app/',
  'ftp://example.com/',
  'not an address',
  '',
])('refuses %s', (address) => {
  expect(linkTreatment(address)).toBe('refuse')
})

test('asks about one link at a time, and opens it on yes only', async () => {
  const asked: string[] = []
  const opened: string[] = []
  let answer: (isWanted: boolean) => void = () => undefined
  const openLink = createExternalLinks({
    ask: (address) => {
      asked.push(address)
      return new Promise((resolve) => (answer = resolve))
    },
    open: async (address) => void opened.push(address),
  })
  openLink('http://localhost:1/')
  openLink('http://localhost:2/')
  openLink('file:///etc/passwd')
  answer(false)
  await setImmediate()
  openLink('http://localhost:3/')
  answer(true)
  await setImmediate()
  expect([asked, opened]).toEqual([['http://localhost:1/', 'http://localhost:3/'], ['http://localhost:3/']])
})
