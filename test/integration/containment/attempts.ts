import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import type { BoxRequest, Containment } from '../../../src-main/ports/containment.ts'

/** A description, and a shell line that ends with 0 if it worked; `after`: whether it shows outside. */
export type Attempt = readonly [what: string, line: string, after?: () => boolean]

interface Place extends Pick<BoxRequest, 'level' | 'cwd' | 'hosts'> {
  readonly home: string
}

/** Runs each attempt in one contained shell; returns the names of the attempts that worked. */
export async function tryIn(
  containment: Containment,
  { home, ...request }: Place,
  attempts: readonly Attempt[],
): Promise<readonly string[]> {
  // In a clone below the temporary folder this program is there too.
  const box = await containment.box({ ...request, read: [process.execPath], variables: ['NODE'] })
  const script = attempts
    .map(([, line], index) => `(${line}) </dev/null >/dev/null 2>/dev/null; echo "${index} $?"`)
    .join('\n')
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, NODE: process.execPath }
  const options = { cwd: request.cwd, env, stdin: 'ignore', box: box ?? undefined } as const
  const tree = await spawnTree('bash', ['-c', script], options)
  const [out, err] = await Promise.all([text(tree.stdout), text(tree.stderr)])
  await tree.ended
  const codes = new Map(out.split('\n').map((line) => line.split(' ') as [string, string]))
  expect([...codes.keys()].filter(Boolean), err).toHaveLength(attempts.length)
  return attempts
    .filter(([, , after], index) => (after ? after() : codes.get(String(index)) === '0'))
    .map(([what]) => what)
}
