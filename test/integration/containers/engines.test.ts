import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { findPodmanAt } from '../../../src-main/containers/engine-client.ts'
import { openEngine } from '../../../src-main/containers/ground.ts'
import { removeContainers } from '../../../src-main/containers/leftovers.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { useTestEngine } from '../../helpers/container-job.ts'
import { startEngineService } from '../../helpers/engine-service.ts'
import { present } from '../../helpers/present.ts'

const found = await useTestEngine()

const execute = promisify(execFile)
const signal = AbortSignal.timeout(60_000)

test.runIf(process.platform === 'linux')('takes the first engine that answers, unless one is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-engines-'))
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`)
  try {
    const program = (name: string, script: string) =>
      writeFile(join(folder, name), `#!/bin/sh\n${script}`, { mode: 0o755 })
    const dead = 'echo "Cannot connect to the Docker daemon." >&2; exit 1'
    await program('docker', dead)
    await program('podman', '[ "$1" = --version ] && echo podman version 5 || echo false')
    const { client } = await openEngine({ engine: null }, { signal })
    expect(basename(client.program)).toBe('podman')
    await expect(openEngine({ engine: 'docker' }, { signal })).rejects.toThrow('Cannot connect to the Docker daemon.')
    await program('podman', 'echo "No socket." >&2; exit 1')
    await expect(openEngine({ engine: null }, { signal })).rejects.toThrow('Cannot connect to the Docker daemon.')
  } finally {
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true, force: true })
  }
})

test.skipIf(found?.engine !== 'podman')('removes containers once an engine that was killed answers again', async () => {
  const { engine, image } = present(found)
  await using service = await startEngineService()
  const client = present(findPodmanAt(service.url))
  const labels = { 'copse.installation': `test-${process.pid}` }
  const label = `copse.installation=test-${process.pid}`
  await execute(engine, ['run', '--detach', '--rm', '--label', label, image, 'sleep', '600'])
  const left = async () => (await execute(engine, ['ps', '--quiet', '--filter', `label=${label}`])).stdout
  expect(await left()).not.toBe('')
  const back = service.kill(1_500)
  await removeContainers(client, labels, { signal, log: createLogger({ level: 'silent' }), waitMs: 20_000 })
  expect(await left()).toBe('')
  await back
})
