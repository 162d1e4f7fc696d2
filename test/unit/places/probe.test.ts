import { expect, test } from 'vitest'
import { readProbe } from '../../../src-main/places/remote/probe.ts'
import { findOwnNode, kindOf, noNode } from '../../../src-main/places/ssh/own-node.ts'

const said = (node: string) =>
  `greeting\n\ncopse-probe\ngit=git version 2.39.5\nnode=${node}\nuname=Linux x86_64\nfree=9000000\n`
const nodeStep = (node: string, version: string | null) =>
  readProbe(said(node), () => ({ version, fix: 'Install it.' }))?.steps.find(({ name }) => name === 'node')

test('says which Node is there, which one is brought, and what to do without one', () => {
  expect(nodeStep('v24.1.0', null)).toMatchObject({ ok: true, message: 'Node 24.1.0.', fix: null })
  expect(nodeStep('v18.1.0', '24.2.0')).toMatchObject({
    ok: true,
    message: 'Node 18.1.0 is too old. Copse brings Node 24.2.0 there, for its own program alone.',
  })
  expect(nodeStep('', '24.2.0')?.message).toMatch(/^Node is not installed there, or not in PATH\. Copse brings/)
  expect(nodeStep('', null)).toMatchObject({ ok: false, fix: 'Install it.' })
})

test('knows machines of its own kind', () => {
  expect(kindOf('Linux x86_64\n')).toBe('linux x64')
  expect(kindOf('Darwin arm64')).toBe('darwin arm64')
  expect(kindOf('Linux aarch64')).toBe('linux arm64')
  expect(kindOf('FreeBSD riscv64')).toBe('freebsd riscv64')
  const own = { version: '24.2.0', kind: 'linux x64', name: 'node-24.2.0', read: () => Promise.resolve(Buffer.of()) }
  expect(noNode(own, 'linux arm64')).toBe(
    'Install Node 24 or newer there. Copse has one for linux x64 alone; that is linux arm64.',
  )
  expect(noNode(null, 'linux arm64')).toBe('Install Node 24 or newer there.')
  expect(findOwnNode()?.version ?? process.versions.node).toBe(process.versions.node)
})
