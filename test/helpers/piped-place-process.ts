import { join } from 'node:path'
import { createAgentHomes } from '../../src-main/containment/agent-homes.ts'
import { createContainment } from '../../src-main/containment/create-containment.ts'
import { createDataFolders } from '../../src-main/containment/data-folders.ts'
import { executorProfiles } from '../../src-shared/contract/executor-profiles.ts'
import { containmentLevels } from '../../src-shared/contract/containment-levels.ts'
import { createGit } from '../../src-main/git/create-git.ts'
import { createGitViews } from '../../src-main/git/view/git-views.ts'
import { createLocalPlace } from '../../src-main/places/local-place.ts'
import { createLogger } from '../../src-main/platform/logging/log.ts'
import { createCallPipe } from './call-pipe.ts'

/** The place of another process, with a data folder of its own: see `piped-place.ts`. */
const dataDir = process.argv[2] ?? ''
const log = createLogger({ level: 'silent' })
const workspaceRoot = join(dataDir, 'workspaces')
const views = createGitViews({ dataDir, log })
const containment = createContainment({
  dataDir,
  otherData: createDataFolders(dataDir, dataDir),
  views,
  workspaceRoot,
  credentials: () => [],
  auto: 'none',
  apiUrl: () => null,
  log,
})
const place = createLocalPlace({
  workspaceRoot,
  git: createGit({ dataDir, containment, views, log }),
  containment,
  homes: createAgentHomes({ dataDir }),
})
/** Answers that the port gives at once, which a pipe can't. */
const known = {
  levels: Object.fromEntries(
    containmentLevels.map((level) => [
      level,
      { effective: containment.effectiveLevel(level), refusal: containment.refusal(level) },
    ]),
  ),
  locations: Object.fromEntries(executorProfiles.map((profile) => [profile, place.runs.location(profile)])),
}
const pipe = createCallPipe((message) => process.send?.(message), { place, known })
process.on('message', pipe.receive)
process.once('disconnect', () => void containment.close().then(() => process.exit()))
