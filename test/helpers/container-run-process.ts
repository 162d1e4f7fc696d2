import type { ContainerConfig } from '../../src-main/containers/container-config.ts'
import { startContainerBench } from './container-bench.ts'

/** Starts a run in a container, tells where it is, and waits for the end of this process. */
process.once('message', (config: ContainerConfig) => {
  void startContainerBench(config).then(async (bench) => {
    await bench.start('echo work > work.txt; git add -A; git commit -qm Work; touch ready; sleep 4715')
    process.send?.({ dataDir: bench.dataDir, worktree: bench.worktree, repository: bench.repository.path })
  })
})
