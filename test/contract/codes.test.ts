import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src-shared/contract/errors.ts'
import { projectRoot } from '../helpers/project-root.ts'

const textOf = (pattern: string) =>
  globSync(pattern, { cwd: projectRoot }).map((file) => readFileSync(join(projectRoot, file), 'utf8'))

/** Codes that stand in none of these files, in quotes. */
const missingIn = (...patterns: readonly string[]) => {
  const texts = patterns.flatMap(textOf)
  return errorCodes.filter((code) => !texts.some((text) => text.includes(`'${code}'`)))
}

test('every code of the contract is answered somewhere in the service', () => {
  expect(missingIn('src-main/**/*.ts')).toEqual([])
})

test('every code of the contract is met by a test at a door of a running service', () => {
  expect(missingIn('test/integration/**/*.test.ts', 'test/contract/*.test.ts')).toEqual([])
})
