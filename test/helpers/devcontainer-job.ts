import type { Runner } from '../../src-shared/contract/runners.ts'
import { installationOf } from '../../src-main/containers/ground.ts'
import type { TestEngine } from './container-engine.ts'
import { startJob, type Job } from './job.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A job whose agents run in the dev container of its project. */
export interface DevcontainerJob extends Job {
  readonly runner: Runner
}

/** Starts a job whose repository has these files; `config` is its `devcontainer.json`. */
export async function startDevcontainerJob(
  { engine }: TestEngine,
  config: Readonly<Record<string, unknown>> | null,
  files: Readonly<Record<string, string>> = {},
): Promise<DevcontainerJob> {
  const own = config === null ? {} : { '.devcontainer/devcontainer.json': devcontainerText(config) }
  const job = await startJob({ files: { 'README.md': '# Dev\n', ...own, ...files } })
  const { client, dataDir } = job.running
  const { id: runner_id } = await client.call('runners.create', {
    name: 'Dev',
    kind: 'container',
    config: { engine, devcontainer: true },
  })
  const { runner } = await client.call('runners.check', { runner_id })
  await job.settings({ runner_ids: [runner_id] })
  return {
    ...job,
    runner,
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      await removeDevcontainerImages(engine, dataDir)
    },
  }
}

/** Returns the text of a configuration as people write it, with comments and commas. */
export const devcontainerText = (config: Readonly<Record<string, unknown>>): string =>
  `// The tools of this project\n${JSON.stringify(config, null, 2).replace(/\n}$/, ',\n}')}\n`

/** Returns the images of an installation's dev containers. */
export async function devcontainerImages(engine: string, dataDir: string): Promise<readonly string[]> {
  const { stdout } = await run(engine, ['image', 'ls', '--format', '{{.Repository}}:{{.Tag}}'])
  return stdout.split('\n').filter((name) => name.includes(`copse-dev/${installationOf(dataDir)}:`))
}

/** Removes the images of an installation's dev containers. */
export async function removeDevcontainerImages(engine: string, dataDir: string): Promise<void> {
  const images = await devcontainerImages(engine, dataDir)
  if (images.length > 0) await run(engine, ['rmi', '--force', ...images])
}
