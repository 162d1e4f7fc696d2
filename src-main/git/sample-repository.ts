import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commitEverything } from './commands/commit.ts'
import { runGit } from './commands/run-git.ts'

const readme = `# Copse demo

A small repository to try Copse on. Nothing here is yours: delete it whenever you like.
`

/** Creates a repository with one commit on `main` below `parent` and returns its path. */
export async function makeSampleRepository(parent: string, name: string, signal: AbortSignal): Promise<string> {
  const path = join(parent, name)
  await mkdir(path, { recursive: true })
  await runGit(path, ['init', '--quiet', '--initial-branch=main'], { signal, access: 'write' })
  await writeFile(join(path, 'README.md'), readme)
  await commitEverything(path, 'Start the demo', { signal })
  return path
}
