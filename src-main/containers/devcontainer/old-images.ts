import { existsSync } from 'node:fs'
import type { Cancellable } from '../../ports/cancellable.ts'
import { installationLabel, worktreeLabel } from '../container-args.ts'
import { askEngine, type EngineClient } from '../engine-client.ts'

/** Removes the images of worktrees that are gone, and of `cwd` all but `image`. One that is in use stays. */
export async function removeWorktreeImages(
  client: EngineClient,
  installation: string,
  { cwd, image }: { readonly cwd: string | null; readonly image: string | null },
  options: Cancellable,
): Promise<void> {
  const filters = [`label=${installationLabel}=${installation}`, `label=${worktreeLabel}`]
  const args = ['image', 'ls', '--format', '{{.Repository}}:{{.Tag}}', ...filters.flatMap((one) => ['--filter', one])]
  const { stdout } = await askEngine(client, args, options)
  const names = stdout.split('\n').filter((name) => name.includes('copse-dev/') && name !== image)
  if (names.length === 0) return
  const format = `{{index .Config.Labels "${worktreeLabel}"}}`
  const labels = await askEngine(client, ['image', 'inspect', '--format', format, ...names], options)
  const worktrees = labels.stdout.split('\n')
  const old = names.filter((_, index) => {
    const worktree = worktrees[index] ?? ''
    return worktree !== '' && (worktree === cwd || !existsSync(worktree))
  })
  if (old.length > 0) await askEngine(client, ['rmi', ...old], options)
}
