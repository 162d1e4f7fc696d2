import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findOnPath } from '../../../../src-main/platform/process/find-on-path.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'find-on-path-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function program(name: string, text: string, mode = 0o755): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

it('finds the first executable file, as a shell would', () => {
  mkdirSync(join(dir, 'agent'))
  mkdirSync(join(dir, 'two'))
  const path = program('two/agent', '#!/bin/sh\n')
  const environment = { PATH: `${dir}:${join(dir, 'two')}` }
  expect(findOnPath('agent', environment)).toBe(path)
  expect(findOnPath(path, {})).toBe(path)
  expect(findOnPath('missing', environment)).toBeNull()
  program('plain', 'no program', 0o644)
  expect(findOnPath('plain', environment)).toBeNull()
})
