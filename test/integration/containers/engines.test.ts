import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openEngine } from '../../../src-main/containers/ground.ts'

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
