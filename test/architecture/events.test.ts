import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventPayloads } from '../../src-shared/contract/events.ts'
import { projectRoot } from '../helpers/project-root.ts'

const types = Object.keys(eventPayloads)

/** Returns the contract's types for which no file of `pattern` contains `needle`. */
function missing(pattern: string, needle: (type: string) => RegExp): string[] {
  const files = globSync(pattern, { cwd: projectRoot })
  const text = files.map((file) => readFileSync(join(projectRoot, file), 'utf8')).join('\n')
  return types.filter((type) => !needle(type.replaceAll('.', '[.]')).test(text))
}

test('emits every event of the contract in the service', () => {
  expect(types.length).toBeGreaterThan(25)
  expect(missing('src-main/**/*.ts', (type) => new RegExp(`emit\\(\\s*'${type}'`))).toEqual([])
})

test('receives every event of the contract in a test of a running service', () => {
  expect(missing('test/integration/**/*.test.ts', (type) => new RegExp(`'${type}'`))).toEqual([])
})
