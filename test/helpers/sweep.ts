// `npm test` sweeps over everything, `npm run test:changed` over a part: there it is one test of many.
const isSample = process.env['COPSE_SWEEPS'] === 'sample'

/** Returns the cases of a sweep, or every fourth. */
export const sweep = <T>(cases: readonly T[]): readonly T[] => cases.filter((_, index) => !isSample || index % 4 === 0)

/** Returns at which distance the commits of a crash test lie; `COPSE_ALL_CRASHES=1` takes each. */
export function stride(usual: number): number {
  if (process.env['COPSE_ALL_CRASHES'] === '1') return 1
  return isSample ? usual * 4 : usual
}
