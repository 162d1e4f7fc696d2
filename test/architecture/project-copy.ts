import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const projectRoot = join(import.meta.dirname, '..', '..')

/** What a tool goes by, without a line that it could look at. */
const settings = ['package.json', 'tsconfig.json', 'tsconfig.pure.json', 'eslint.config.js', 'scripts/lint']
const sources = ['src-main', 'src-shared', 'src-renderer']

export interface ProjectCopy extends AsyncDisposable {
  readonly root: string
  /** Writes one file below `root`. */
  plant(path: string, content: string): Promise<void>
}

/** The project in a folder of its own, where a test may do to it what must not be done. */
export const copyProject = (): Promise<ProjectCopy> => copy([...settings, ...sources])

/** The project without its sources: a tool reads what the test plants and is done in a tenth of the time. */
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
