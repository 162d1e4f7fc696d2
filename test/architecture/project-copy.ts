import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const projectRoot = join(import.meta.dirname, '..', '..')

const copied = [
  'src-main',
  'src-shared',
  'src-renderer',
  'package.json',
  'tsconfig.json',
  'tsconfig.pure.json',
  'eslint.config.js',
  'scripts/lint',
]

export interface ProjectCopy extends AsyncDisposable {
  readonly root: string
  /** Writes one file below `root`. */
  plant(path: string, content: string): Promise<void>
}

/** The sources in a folder of their own, where a test may do to them what must not be done. */
export async function copyProject(): Promise<ProjectCopy> {
  const root = await mkdtemp(join(tmpdir(), 'copse-architecture-'))
  for (const name of copied) await cp(join(projectRoot, name), join(root, name), { recursive: true })
  await symlink(join(projectRoot, 'node_modules'), join(root, 'node_modules'), 'junction')
  return {
    root,
    plant: async (path, content) => {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content)
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}
