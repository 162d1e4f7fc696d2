import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { delimiter } from 'node:path'

/** The environment with `bin` first on PATH. */
export function withPath(bin, env = process.env) {
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { ...env, [key]: [...bin, env[key]].filter(Boolean).join(delimiter) }
}

/** What a program that ended so shows to its parent. */
export function exitCode(code, signal) {
  return code ?? 128 + (constants.signals[signal] ?? 0)
}

/**
 * Runs a program as if it were this process: same terminal, signals passed on; resolves to its exit
 * code. A Ctrl-C reaches the whole foreground group by itself, so it is passed on only without a terminal.
 */
export function runAs(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options })
    const pass = (signal) => child.kill(signal)
    const interrupt = () => process.stdin.isTTY || child.kill('SIGINT')
    process.on('SIGTERM', pass).on('SIGHUP', pass).on('SIGINT', interrupt)
    const watch = onParentGone(() => child.kill('SIGTERM'))
    const settle = (act) => {
      clearInterval(watch)
      process.off('SIGTERM', pass).off('SIGHUP', pass).off('SIGINT', interrupt)
      act()
    }
    child.on('error', (error) => settle(() => reject(error)))
    child.on('exit', (code, signal) => settle(() => resolve(exitCode(code, signal))))
  })
}

const parentCheckMs = 250

/**
 * Calls `end` once the shell is gone that npm started this process by: a signal to npm reaches that shell alone, and
 * the program would go on without anyone who can end it.
 */
function onParentGone(end) {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    end()
  }, parentCheckMs)
  return watch
}

/**
 * Runs a program and keeps what it printed; resolves to `{ code, output }`, also when it cannot start. `priority` is
 * one of `os.constants.priority`, for all that it starts too.
 */
export function capture(command, args, { priority, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, priority)
    const parts = []
    const keep = (part) => parts.push(part)
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    child.on('error', (error) => resolve({ code: 127, output: `${command}: ${error.message}` }))
    child.on('close', (code, signal) => {
      resolve({ code: exitCode(code, signal), output: Buffer.concat(parts).toString() })
    })
  })
}
