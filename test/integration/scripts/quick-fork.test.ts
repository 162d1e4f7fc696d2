import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { quickFork } from '../../helpers/built.ts'

/** A thread starts programs while the main one reads its environment and starts some of its own. */
const script = `
const { Worker } = require('node:worker_threads')
const { spawnSync } = require('node:child_process')
const thread = \`
  let left = 100
  const next = () => require('node:child_process').spawn('true', [], { env: { PATH: process.env.PATH } })
    .on('close', () => (--left > 0 ? next() : process.exit(0)))
  next()\`
let isOver = false
new Worker(thread, { eval: true }).on('exit', () => (isOver = true))
let read = 0
const look = () => {
  for (let n = 0; n < 20_000; n += 1) read += (process.env.PATH ?? '').length + (process.env.NONE ?? '').length
  if (read % 7 === 0) spawnSync('true', [], { env: { PATH: process.env.PATH, OTHER: '1' } })
  if (isOver) console.log('over')
  else setImmediate(look)
}
look()`

test.skipIf(quickFork['LD_PRELOAD'] === undefined)('lets a thread start programs beside the main one', async () => {
  const env = { PATH: process.env['PATH'] ?? '', ...quickFork }
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env })
  expect(stdout).toBe('over\n')
})
