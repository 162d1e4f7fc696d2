import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Keeps what was thrown outside of every test, which fails the run: vitest tells of it once, far above the end. */
export default class OutsideTests {
  onTestRunEnd(_modules, errors) {
    const file = process.env.COPSE_OUTSIDE_TESTS
    if (file && errors.length > 0) writeFileSync(file, JSON.stringify(errors.map(lineOf)))
  }
}

function lineOf({ type, message, stack, VITEST_TEST_PATH: path, VITEST_TEST_NAME: test }) {
  const [what] = String(message).split('\n', 1)
  const where = /[^\s(]*\/(?:src-\w+|test)\/[^\s)]+/.exec(stack ?? '')?.[0]
  const near = [path && relative('.', path), test].filter(Boolean).join(' > ')
  return `${near || 'outside of every file'}: ${type}: ${what}${where ? ` (${where})` : ''}`
}
