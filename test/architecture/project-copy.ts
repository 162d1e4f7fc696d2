import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const projectRoot = join(import.meta.dirname, '..', '..')

/** The configuration of the tools, without any source. */
const settings = [
  'package.json',
  'tsconfig.json',
  'tsconfig.pure.json',
  'oxlint.config.ts',
  'eslint.config.js',
  'scripts/lint',
]
const sources = ['src-main', 'src-shared', 'src-renderer']

export interface ProjectCopy extends AsyncDisposable {
  readonly root: string
  /** Writes one file below `root`. */
  plant(path: string, content: string): Promise<void>
}

/** Copies the project, so that a test may break its rules. */
export const copyProject = (): Promise<ProjectCopy> => copy([...settings, ...sources])

/**
 * Copies the project without its sources, so that a tool reads only the test's files and needs a tenth of the time.
 */
export const copySettings = (): Promise<ProjectCopy> => copy(settings)

async function copy(names: readonly string[]): Promise<ProjectCopy> {
  const root = await mkdtemp(join(tmpdir(), 'copse-architecture-'))
  for (const name of names) await cp(join(projectRoot, name), join(root, name), { recursive: true })
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
