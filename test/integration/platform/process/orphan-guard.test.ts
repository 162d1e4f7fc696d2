import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createProcessBeacon } from '../../../helpers/process-beacon.ts'
import { projectRoot } from '../../../helpers/project-root.ts'

const spawner = join(projectRoot, 'src-main/platform/process/process.ts')

/** A process that starts a tree in this folder and waits, like a service. */
function startService(cwd: string, command: string, worktree: string | null = cwd) {
  const code = `const { spawnTree } = await import(${JSON.stringify(spawner)})
    await spawnTree('/bin/sh', ['-c', process.argv[1]], { cwd: process.argv[2], env: process.env, stdin: 'ignore' })`
  const env = { ...process.env, ...(worktree !== null && { SVC_WORKTREE_PATH: worktree }) }
  return spawn(process.execPath, ['--input-type=module', '--eval', code, command, cwd], { stdio: 'inherit', env })
}

it.runIf(process.platform === 'linux')(
  'ends everything that a service ran within two seconds of a kill -9',
  async () => {
    await using beacon = await createProcessBeacon()
    await using folder = await mkdtempDisposable(join(tmpdir(), 'copse-guard-'))
    const forever = 'while :; do sleep 0.1; done'
    const service = startService(
      folder.path,
      [
        `(setsid ${beacon.hold('left the group', forever)} &)`,
        `(env -i PATH="$PATH" setsid ${beacon.hold('forgot who it is', forever)} &)`,
        beacon.hold('stubborn', `trap "" TERM; ${forever}`),
      ].join('; '),
    )
    const names = ['left the group', 'forgot who it is', 'stubborn']
    await Promise.all(names.map((name) => beacon.alive(name)))
    const gone = once(service, 'exit')
    service.kill('SIGKILL')
    await gone
    const killed = performance.now()
    await Promise.all(names.map((name) => beacon.gone(name)))
    expect(performance.now() - killed).toBeLessThan(2_000)
  },
)

it.runIf(process.platform === 'linux')("leaves a person's own program in the same folder alone", async () => {
  await using beacon = await createProcessBeacon()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'copse-guard-'))
  const own = spawn('sleep', ['300'], { cwd: folder.path, detached: true, stdio: 'ignore' })
  const service = startService(folder.path, beacon.hold('run', 'while :; do sleep 0.1; done'))
  await beacon.alive('run')
  service.kill('SIGKILL')
  await beacon.gone('run')
  expect(own.exitCode ?? own.signalCode).toBeNull()
  const gone = once(own, 'exit')
  own.kill('SIGKILL')
  await gone
})

// Servers, and the connections of sshd, work in / and have no home. So do links over SSH, which are no runs.
it.runIf(process.platform === 'linux')('leaves what has no home alone where no run works', async () => {
  await using beacon = await createProcessBeacon()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'copse-guard-'))
  const server = spawn('sleep', ['300'], { cwd: folder.path, detached: true, stdio: 'ignore', env: {} })
  const service = startService(folder.path, beacon.hold('link', 'while :; do sleep 0.1; done'), null)
  await beacon.alive('link')
  const ended = once(service, 'exit')
  service.kill('SIGKILL')
  await ended
  await beacon.gone('link')
  expect(server.exitCode ?? server.signalCode).toBeNull()
  const gone = once(server, 'exit')
  server.kill('SIGKILL')
  expect(await gone).toEqual([null, 'SIGKILL'])
})
