import { serveParent } from './child.ts'
import { measure, type RowResult } from './measure.ts'
import type { Setting } from './row.ts'
import { rows } from './rows.ts'

/** Which row is measured, and how. */
export interface MeasureRequest extends Omit<Setting, 'say'> {
  readonly name: string
}

serveParent<MeasureRequest, RowResult>(async ({ name, ...setting }) => {
  const row = rows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`There is no row ${name}.`)
  return await measure(row, { ...setting, say: (line) => console.error(line) })
})
