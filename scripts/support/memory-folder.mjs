import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'copse-tests-'
/** What all tests together were seen to need is a third of it. */
const neededBytes = 6 * 1024 ** 3

/**
 * Creates a folder in memory for the temporary files of tests, since many of them wait for the disk a fifth of their
 * time. Returns it with what removes it; null where there is none with room in which programs may be started.
 */
export function createMemoryFolder() {
  if (process.platform !== 'linux') return null
  let path
  try {
    removeLeft()
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < neededBytes || freemem() < neededBytes) return null
    path = mkdtempSync(join(memory, `${prefix}${process.pid}-`))
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  const program = join(path, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  if (spawnSync(program).status === 0) return { path, remove }
  remove()
  return null
}

/** Removes what runs that were killed have left. */
function removeLeft() {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : NaN
    if (Number.isInteger(pid) && !isRunning(pid)) rmSync(join(memory, name), { recursive: true, force: true })
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
