import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { readCheckoutSettings } from '../../../../src-main/git/commands/checkout.ts'
import { createTestRepository } from '../../../helpers/git-repository.ts'
import { never } from '../workspace-fixture.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('expects a checkout hook only where the repository or the user has one', async () => {
  await using repository = await createTestRepository()
  const common = join(repository.path, '.git')
  const mayHaveHook = async () => (await readCheckoutSettings(repository.path, common, never)).mayHaveHook
  expect(await mayHaveHook()).toBe(false)
  const hook = join(common, 'hooks', 'post-checkout')
  await mkdir(join(common, 'hooks'), { recursive: true })
  await writeFile(hook, '#!/bin/sh\n')
  await chmod(hook, 0o755)
  expect(await mayHaveHook()).toBe(true)
  await rm(hook)
  expect(await mayHaveHook()).toBe(false)
  const users = join(common, 'users-config')
  await writeFile(users, '')
  vi.stubEnv('GIT_CONFIG_GLOBAL', users)
  expect(await mayHaveHook()).toBe(false)
  await writeFile(users, '[core]\n\thooksPath = ~/hooks\n')
  expect(await mayHaveHook()).toBe(true)
})

test('leaves the number of workers to whoever has set it', async () => {
  await using repository = await createTestRepository()
  const read = () => readCheckoutSettings(repository.path, join(repository.path, '.git'), never)
  expect((await read()).options.join(' ')).toMatch(/checkout\.workers=\d/)
  await repository.git(['config', 'checkout.workers', '1'])
  expect((await read()).options.join(' ')).not.toMatch(/checkout\.workers/)
})
