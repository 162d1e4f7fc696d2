import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLiveLogs } from '../../../src-main/logs/log-file.ts'

/** What a file of 100 bytes and a tail of 50 holds after these chunks. */
async function fileAfter(...chunks: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'copse-log-file-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'a.log')
  const writer = await createLiveLogs().openWriter(path, {
    maxBytes: 100,
    tail: { bytes: 50, show: (bytes) => Buffer.from(`<${Buffer.from(bytes).toString()}>`) },
    records: false,
  })
  for (const chunk of chunks) await writer.append(Buffer.from(chunk))
  await writer.close()
  return await readFile(path, 'utf8')
}

const head = 'x'.repeat(100)

test('keeps all of an output that fits, and of one whose rest fits into the tail', async () => {
  expect(await fileAfter(head)).toBe(head)
  expect(await fileAfter(head, 'one\n', 'two')).toBe(`${head}<one\ntwo>`)
  expect(await fileAfter(`${head}one`)).toBe(`${head}<one>`)
})

test('begins the tail with a line, also where lines end as those of a progress bar do', async () => {
  const long = 'y'.repeat(60)
  expect(await fileAfter(head, long, '\nthe end')).toBe(`${head}\n[61 bytes of output were left out here]\n<the end>`)
  expect(await fileAfter(head, long, '\r90 %\r99 %')).toBe(
    `${head}\n[61 bytes of output were left out here]\n<90 %\r99 %>`,
  )
})

test('keeps no end of a line whose start is gone', async () => {
  expect(await fileAfter(head, 'y'.repeat(60))).toBe(`${head}\n[60 bytes of output were left out here]\n`)
})
