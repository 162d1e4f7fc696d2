import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { traces } from '../../helpers/overlap-sides.ts'

test('leaves nothing behind when killed during a comparison, and finds the conflict after the restart', async () => {
  await using repository = await createTestRepository({ files: { '.gitattributes': '*.held filter=held\n' } })
  const [go, reached] = ['go', 'reached'].map((name) => join(repository.beside, name)) as [string, string]
  await repository.git([
    'config',
    'filter.held.clean',
    `touch '${reached}'; until test -e '${go}'; do sleep 0.05; done; cat`,
  ])
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-killed-'))
  const kept = async () => await readdir(join(dataDir, 'overlaps')).catch(() => [])
  try {
    const killed = await startKillableApp(dataDir)
    const { id: project_id } = await killed.client.call('projects.create', { name: 'Job', repo_path: repository.path })
    const paths: string[] = []
    for (const title of ['One', 'Other']) {
      const { id: task_id } = await killed.client.call('tasks.create', { project_id, title })
      const { workspace } = await killed.client.call('tasks.claim', { task_id })
      paths.push(workspace?.path ?? '')
    }
    const before = await traces(repository)
    for (const [number, path] of paths.entries()) await writeFile(join(path, 'a.held'), `${number}\n`)
    await expect.poll(() => existsSync(reached), { timeout: 100_000 }).toBe(true)
    expect(await kept()).toHaveLength(1)
    await killed.kill()
    expect(await kept()).toHaveLength(1)

    await writeFile(go, '')
    const again = await startKillableApp(dataDir)
    const read = async () => (await again.client.call('overlaps.list', { project_id })).items
    const found = await again.eventually(read, (items) => items.length > 0)
    expect(found).toMatchObject([{ kind: 'conflict', files: ['a.held'] }])
    expect(await kept()).toHaveLength(1)
    expect(await traces(repository)).toEqual(before)
    // The service is killed at rest too. A single worktree is compared with nothing.
    await again.kill()
    expect(await kept()).toHaveLength(1)
    await rm(paths[1] ?? '', { recursive: true })
    await using last = await startKillableApp(dataDir)
    await expect.poll(kept, { timeout: 100_000 }).toEqual([])
    expect((await last.client.call('overlaps.list', { project_id })).items).toEqual([])
  } finally {
    await writeFile(go, '')
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})
