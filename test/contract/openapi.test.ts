import { readFile, writeFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { format } from 'oxfmt'
import { expect, test } from 'vitest'
import { createOpenApi } from '../../src-shared/contract/openapi.ts'
import { operations, streams } from '../../src-shared/contract/operations.ts'

const snapshot = new URL('openapi.snapshot.json', import.meta.url)
const document = createOpenApi('0.0.0')

interface Described {
  readonly paths: Record<string, Record<string, { readonly operationId: string }>>
}

test('is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(structuredClone(document))
  expect(result).toEqual({ valid: true })
})

test('is as committed; UPDATE_OPENAPI=1 accepts a change of the contract', async () => {
  const text = JSON.stringify(document)
  if (process.env['UPDATE_OPENAPI'] === '1') {
    await writeFile(snapshot, (await format('openapi.json', text, { printWidth: 120 })).code)
  }
  expect(JSON.parse(await readFile(snapshot, 'utf8'))).toEqual(JSON.parse(text))
})

test('names every operation and stream once', () => {
  const { paths } = document as unknown as Described
  const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
  const expected = [...Object.keys(operations), ...Object.keys(streams), 'healthz', 'openapi', 'mcp', 'webhook']
  expect(ids.toSorted()).toEqual(expected.toSorted())
})

test('resolves every reference, and uses every shared schema', () => {
  const { components } = document as { components: { schemas: Record<string, unknown> } }
  const referred = new Set(
    [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]),
  )
  const streamed = new Set(['EventPayloads', 'TranscriptEntry'])
  const known = Object.keys(components.schemas).filter((name) => referred.has(name) || !streamed.has(name))
  expect([...referred].toSorted()).toEqual(known.toSorted())
})
