import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { projectRoot } from '../helpers/project-root.ts'
import { serveParent } from './child.ts'
import { measure, type RowResult } from './measure.ts'
import type { Setting } from './row.ts'

// Every row has a process of its own, and all of them load the same modules. The product's process has no part in it.
enableCompileCache(join(projectRoot, 'node_modules', '.cache', 'node-compile'))
const { rows } = await import('./rows.ts')

/** Which row is measured, and how. */
export interface MeasureRequest extends Omit<Setting, 'say'> {
  readonly name: string
}

serveParent<MeasureRequest, RowResult>(async ({ name, ...setting }) => {
  const row = rows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`There is no row ${name}.`)
  return await measure(row, { ...setting, say: (line) => console.error(line) })
})
