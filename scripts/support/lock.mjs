import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { say, tools } from './project.mjs'

const staleAfterMs = 20 * 60_000

/**
 * Runs `work` while no other process on this machine runs it for this project; waits for the other
 * one first. A lock whose process has gone, or that is older than any set-up takes, is taken over.
 */
export async function withLock(name, work) {
  mkdirSync(tools, { recursive: true })
  const lock = join(tools, `${name}.lock`)
  const mine = `${lock}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    await take(lock, mine, name)
  } finally {
    rmSync(mine, { force: true })
  }
  const release = () => rmSync(lock, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

async function take(lock, mine, name) {
  for (let told = false; ;) {
    try {
      // A hard link appears whole or not at all, so nobody reads a lock without its owner.
      linkSync(mine, lock)
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = holderOf(lock)
    if (holder === null) {
      rmSync(lock, { force: true })
      continue
    }
    if (!told) say(`another process (${holder}) is at "${name}" for this folder; waiting for it`)
    told = true
    // The holder is a process that is not ours: it leaves no event to wait for.
    await wait(200)
  }
}

function holderOf(lock) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > staleAfterMs) return null
    const pid = Number(readFileSync(lock, 'utf8'))
    process.kill(pid, 0)
    return pid
  } catch (error) {
    return error.code === 'EPERM' ? 'of another user' : null
  }
}
