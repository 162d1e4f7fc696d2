import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commitEverything } from './commands/commit.ts'
import { runGit } from './commands/run-git.ts'

const readme = `# A try

Copse made this folder to try an agent in it. Nothing here is yours.
`

/** Creates a repository in a new folder, with one commit of `files` (by path) and a README on `main`; returns the folder. */
export async function makeSampleRepository(
  path: string,
  files: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(path, { recursive: true })
  await runGit(path, ['init', '--quiet', '--initial-branch=main'], { signal, access: 'write' })
  for (const [name, text] of Object.entries({ 'README.md': readme, ...files })) await writeFile(join(path, name), text)
  await commitEverything(path, 'Start the demo', { signal })
  return path
}
