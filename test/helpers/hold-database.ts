import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'

/** Another process that holds the write lock of a database until it is released. */
export interface HeldDatabase extends AsyncDisposable {
  /** Releases the lock; resolves when the process is gone. */
  release(): Promise<void>
}

const code = `
const Database = require(process.argv[1])
const other = new Database(process.argv[2])
other.exec('BEGIN IMMEDIATE')
process.stdin.once('data', () => other.exec('ROLLBACK') && process.exit(0)).once('end', () => process.exit(0))
process.stdout.write('held')
`

export async function holdDatabase(file: string): Promise<HeldDatabase> {
  const module = createRequire(import.meta.url).resolve('better-sqlite3')
  const child = spawn(process.execPath, ['-e', code, module, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  const release = async () => {
    child.stdin.end('go')
    await exited
  }
  return { release, [Symbol.asyncDispose]: release }
}
