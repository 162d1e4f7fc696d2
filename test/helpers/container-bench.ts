import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ContainerConfig } from '../../src-main/containers/container-config.ts'
import {
  createContainerContainment,
  type ContainerContainment,
} from '../../src-main/containers/create-container-containment.ts'
import { createContainment } from '../../src-main/containment/create-containment.ts'
import { createBaseFiles } from '../../src-main/git/create-base-files.ts'
import { createGit } from '../../src-main/git/create-git.ts'
import { createProjectBases } from '../../src-main/places/project-bases.ts'
import { createGitViews } from '../../src-main/git/view/git-views.ts'
import { createLogger } from '../../src-main/platform/logging/log.ts'
import { childEnvironment } from '../../src-main/platform/process/process-environment.ts'
import { spawnTree, type ProcessTree } from '../../src-main/platform/process/process.ts'
import type { BoxRequest } from '../../src-main/ports/containment.ts'
import { present } from './present.ts'
import { createTestRepository, type TestRepository } from './git-repository.ts'

/** A worktree whose programs run in containers. */
export interface ContainerBench extends AsyncDisposable {
  readonly repository: TestRepository
  readonly dataDir: string
  readonly worktree: string
  readonly containment: ContainerContainment
  start(script: string, more?: Started): Promise<ProcessTree>
  /** Runs a shell script; resolves to its output and exit code once all is taken over. */
  run(script: string, more?: Started): Promise<{ readonly out: string; readonly code: number }>
}

interface Started {
  readonly env?: Readonly<Record<string, string>>
  readonly request?: Partial<BoxRequest>
}

export async function startContainerBench(
  config: ContainerConfig,
  apiUrl: () => string | null = () => null,
): Promise<ContainerBench> {
  const repository = await createTestRepository()
  const root = await mkdtemp(join(tmpdir(), 'copse-containers-'))
  const dataDir = join(root, 'data')
  const workspaceRoot = join(dataDir, 'workspaces')
  const worktree = join(workspaceRoot, 'own')
  await repository.git(['worktree', 'add', '-q', '-b', 'own', worktree, 'main'])
  await repository.git(['worktree', 'add', '-q', '-b', 'other', join(workspaceRoot, 'other'), 'main'])
  const views = createGitViews({ dataDir })
  views.expect(worktree, 'own')
  const machine = createContainment({
    ...{ dataDir, workspaceRoot, apiUrl, auto: 'auto' as const },
    ...{ otherData: () => [], credentials: () => [] },
  })
  const containment = createContainerContainment({
    runner: { id: 'box', name: 'Box', config },
    dataDir,
    views,
    bases: createProjectBases({
      files: createBaseFiles(),
      scratch: createGit().place.scratch,
      workspaceRoot,
      startOf: () => null,
      repositories: () => [],
      isTrusted: () => false,
    }),
    machine,
    apiUrl,
    log: createLogger({ level: 'silent' }),
  })
  const start: ContainerBench['start'] = async (script, { env = {}, request = {} } = {}) => {
    const box = await containment.box({ level: 'worktree', cwd: worktree, variables: Object.keys(env), ...request })
    return await spawnTree('sh', ['-c', script], {
      cwd: worktree,
      env: childEnvironment(env),
      stdin: 'ignore',
      box: present(box),
    })
  }
  return {
    repository,
    dataDir,
    worktree,
    containment,
    start,
    run: async (script, more) => {
      const tree = await start(script, more)
      const [out, err] = await Promise.all([text(tree.stdout), text(tree.stderr)])
      const { exit_code: code } = await tree.ended
      return { out: `${out}${err}`.trim(), code }
    },
    [Symbol.asyncDispose]: async () => {
      await containment.close()
      await machine.close()
      await repository[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}
