import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentConfig } from '../../../../src-shared/contract/projects.ts'
import type { ExecutionRun } from '../../../../src-main/ports/executors.ts'
import { createClaudeCodeDriver } from '../../../../src-main/agents/claude-code/definition.ts'
import { clock, echo, keptLog, makePlace, never, runOf, writeProgram } from './stand-in.ts'
import type { KeptLog, Place } from './stand-in.ts'

let place: Place
beforeEach(async () => {
  place = await makePlace()
})
afterEach(async () => {
  await place[Symbol.asyncDispose]()
})

describe('a run that cannot start', () => {
  const start = async (config: AgentConfig, about: Partial<ExecutionRun> = {}, signal = never): Promise<KeptLog> => {
    const log = keptLog()
    const driver = createClaudeCodeDriver({ clock, env: { PATH: place.temp, HOME: place.home } })
    const starting = driver.start(
      runOf(place, { log, mcp: { url: 'http://127.0.0.1:1', token: 't' }, ...about, config }),
      {
        signal,
      },
    )
    await expect(starting).rejects.toMatchObject({ name: expect.any(String) as string })
    const error: unknown = await starting.catch((reason: unknown) => reason)
    expect([log.closed, await readdir(place.temp)]).toEqual([1, []])
    return Object.assign(log, { error })
  }

  test.each([
    ['the configured binary is not there', { command: '/nowhere/claude' }, 'not_installed', '/nowhere/claude'],
    ['the configured binary is a folder', { command: '/tmp' }, 'not_installed', '/tmp'],
  ])('reports that %s', async (_name, config, code, text) => {
    expect(await start(config)).toMatchObject({ error: { code, message: expect.stringContaining(text) as string } })
  })

  test('reports a missing worktree and a file that is no program', async () => {
    const command = await writeProgram(place, echo)
    expect(await start({ command }, { cwd: join(place.home, 'gone') })).toMatchObject({
      error: { code: 'spawn_failed' },
    })
    const broken = join(place.home, 'broken')
    await writeFile(broken, '#!/nowhere/interpreter\n', { mode: 0o755 })
    expect(await start({ command: broken })).toMatchObject({ error: { code: 'spawn_failed' } })
  })

  test('leaves nothing behind when it is cancelled before its start', async () => {
    const cancelled = AbortSignal.abort()
    expect(await start({ command: await writeProgram(place, echo) }, {}, cancelled)).toMatchObject({
      error: { name: 'AbortError' },
    })
  })
})

describe('detection', () => {
  const detect = (env: Record<string, string>) => createClaudeCodeDriver({ env }).detect({ signal: never })
  const install = async (folder: string, text: string): Promise<string> => {
    await mkdir(folder, { recursive: true })
    const path = join(folder, 'claude')
    await writeFile(path, `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 })
    return path
  }

  test('finds Claude Code on PATH, with its version', async () => {
    const path = await install(join(place.home, 'bin'), '2.1.330 (Claude Code)')
    expect(await detect({ PATH: `/nowhere:${join(place.home, 'bin')}`, ANTHROPIC_API_KEY: 'k' })).toEqual({
      executor: 'claude-code',
      name: 'Claude Code',
      installed: true,
      path,
      version: '2.1.330',
      signed_in: true,
      hint: null,
    })
  })

  test('finds it where its installer puts it, even if the app has a short PATH', async () => {
    const path = await install(join(place.home, '.local', 'bin'), '2.1.330 (Claude Code)')
    expect(await detect({ PATH: '/nowhere', HOME: place.home })).toMatchObject({ installed: true, path })
  })

  test('says what to do when it does not answer', async () => {
    const path = await install(join(place.home, 'bin'), 'Please run the installer')
    expect(await detect({ PATH: join(place.home, 'bin') })).toMatchObject({
      installed: false,
      version: null,
      hint: expect.stringContaining(path) as string,
    })
  })
})
