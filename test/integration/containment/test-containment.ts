import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContainment, type ContainmentOptions } from '../../../src-main/containment/create-containment.ts'
import type { Containment } from '../../../src-main/ports/containment.ts'

/**
 * Outside the temporary folder, which may contain a clone and is hidden as a whole, so that no path is denied for its
 * own sake.
 */
export const folderOutside = (name: string): string =>
  mkdtempSync(join(process.platform === 'win32' ? tmpdir() : '/var/tmp', `copse-${name}-`))

/** Containment as the service has it, with its data folder below `root`. */
export function containmentIn(root: string, more: Partial<ContainmentOptions> = {}): Containment {
  const dataDir = join(root, 'data')
  return createContainment({
    dataDir,
    otherData: () => [],
    workspaceRoot: join(dataDir, 'workspaces'),
    credentials: () => [],
    auto: 'auto',
    apiUrl: () => null,
    ...more,
  })
}

/** Whether contained runs are tested here. CI has what they need, so there they always are. */
export const isContainable = ({ status }: Pick<Containment, 'status'>): boolean =>
  status().available || process.env['CI'] !== undefined
