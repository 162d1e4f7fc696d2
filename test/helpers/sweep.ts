/**
 * `npm test` sweeps over everything. `npm run test:changed` and CI sweep over a quarter, each commit over another one: there
 * a sweep is one test of many, and machines of CI can be slow.
 */
const part = process.env['COPSE_SWEEP_PART']

/** Returns the cases of a sweep, or those of one part of four. */
export const sweep = <T>(cases: readonly T[]): readonly T[] =>
  cases.filter((_, index) => part === undefined || index % 4 === Number(part))

/** Returns at which distance the commits of a crash test lie; `COPSE_ALL_CRASHES=1` takes each. */
export function stride(usual: number): number {
  if (process.env['COPSE_ALL_CRASHES'] === '1') return 1
  return part === undefined ? usual : usual * 4
}
