import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOutputCapture } from '../../../../src-main/platform/text/output-capture.ts'
import { readProcessTable } from '../../../../src-main/platform/process/process-table.ts'
import type { ScriptResult, ScriptRun } from '../../../../src-main/ports/scripts.ts'
import { createScripts } from '../../../../src-main/hooks/scripts/run-script.ts'

export interface CapturedResult extends ScriptResult {
  readonly stdout: string
  readonly stderr: string
}

/** A folder, and scripts that run in it like hooks: output captured, no log. */
export interface ScriptFolder extends Disposable {
  readonly path: string
  run(command: string, more?: Partial<ScriptRun>, signal?: AbortSignal): Promise<CapturedResult>
}

/** Scripts in this folder have `graceMs` to end when they are told to. */
export function createScriptFolder(graceMs = 10_000): ScriptFolder {
  const path = mkdtempSync(join(tmpdir(), 'hook-script-'))
  const scripts = createScripts({ graceMs })
  const capture = () => createOutputCapture({ maxBytes: 10 * 1024, redact: (text) => text })
  return {
    path,
    run: async (command, more = {}, signal = new AbortController().signal) => {
      const [stdout, stderr] = [capture(), capture()]
      const script = { command, cwd: path, env: {}, timeout_ms: 60_000, stdout, stderr, ...more }
      const result = await scripts.run(script, { signal })
      return { ...result, stdout: stdout.text(), stderr: stderr.text() }
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Filters processes to running ones. */
export async function alive(pids: readonly number[]): Promise<readonly number[]> {
  const living = new Set((await readProcessTable()).filter((row) => !row.zombie).map((row) => row.pid))
  return pids.filter((pid) => living.has(pid))
}
