import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src-shared/contract/errors.ts'
import { operations } from '../../src-shared/contract/operations.ts'
import { projectRoot } from '../helpers/project-root.ts'

const textOf = (pattern: string) =>
  globSync(pattern, { cwd: projectRoot }).map((file) => readFileSync(join(projectRoot, file), 'utf8'))

/** Codes in quotes that occur in none of these files. */
const missingIn = (...patterns: readonly string[]) => {
  const texts = patterns.flatMap(textOf)
  return errorCodes.filter((code) => !texts.some((text) => text.includes(`'${code}'`)))
}

test('uses every code of the contract in the service', () => {
  expect(missingIn('src-main/**/*.ts')).toEqual([])
})

test('meets every code of the contract in a test of a running service', () => {
  expect(missingIn('test/integration/**/*.test.ts', 'test/contract/*.test.ts')).toEqual([])
})

test('calls every operation in a test of a running service, by name or address', () => {
  const texts = textOf('test/integration/**/*.test.ts')
  const isAsked = (name: string, path: string) => {
    const asked = new RegExp(
      `call\\(\\s*'${name.replace('.', '[.]')}'|post\\('${path.replace('/auth', '')}'|/api/v1${path}\\b|post\\(running, '${path}'`,
    )
    return texts.some((text) => asked.test(text))
  }
  const unasked = Object.entries(operations).filter(([name, { path }]) => !isAsked(name, path))
  expect(unasked.map(([name]) => name)).toEqual([])
})
