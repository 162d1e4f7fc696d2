import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { treeVariable } from '../../platform/process/tree-variable.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ContainmentUnavailable } from '../../ports/containment.ts'
import { processLabel, worktreeLabel } from '../container-args.ts'
import { containInContainer, type ContainerBoxOptions, type Prepared } from '../container-box.ts'
import { askEngine, lastWords } from '../engine-client.ts'
import { endOf } from './build-image.ts'
import { runToEnd } from './run-to-end.ts'

const creationLimitMs = 30 * 60_000

/**
 * Runs the commands that make a dev container ready for a worktree, in a container like those of its runs, and keeps what
 * they changed as an image. Throws `ContainmentUnavailable` with the end of their output if one fails.
 */
export async function makeWorktreeImage(
  options: ContainerBoxOptions,
  prepared: Prepared,
  { cwd, script, image }: { readonly cwd: string; readonly script: string; readonly image: string },
  { signal }: Cancellable,
): Promise<void> {
  const { client } = prepared.ground
  const processMarker = randomUUID()
  const env = { [treeVariable]: processMarker, PATH: process.env['PATH'] ?? '' }
  const contained = await containInContainer(
    options,
    { ...prepared, kept: { [worktreeLabel]: cwd } },
    // Of hosts it is allowed none: where the network is limited, it reaches Copse alone.
    { request: { level: 'worktree', cwd }, hostWays: null },
    { file: '/bin/sh', args: ['-c', script], env },
  )
  try {
    const { exit_code, output } = await runToEnd(
      {
        file: contained.file,
        args: contained.args,
        env: contained.env,
        cwd: tmpdir(),
        processMarker,
        limitMs: creationLimitMs,
      },
      { signal },
    )
    const told = { cwd, exit_code, output }
    if (exit_code !== 0) {
      options.log.warn(told, 'a command that creates a dev container failed')
      throw new ContainmentUnavailable(
        `A command that creates the dev container failed (exit ${exit_code ?? 'unknown'}). Its output ends with:\n${endOf(output)}`,
      )
    }
    options.log.info(told, 'a dev container is ready for a worktree')
    const filter = ['--filter', `label=${processLabel}=${processMarker}`]
    const { stdout } = await askEngine(client, ['ps', '--all', '--quiet', '--no-trunc', ...filter], { signal })
    const made = await askEngine(client, ['commit', stdout.trim(), image], { signal, limitMs: creationLimitMs })
    if (made.exit_code !== 0)
      throw new ContainmentUnavailable(`The dev container could not be kept: ${lastWords(made)}`)
  } finally {
    await contained.release()
  }
}
