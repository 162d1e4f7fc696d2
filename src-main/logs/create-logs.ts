import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogFile, LogSlice } from '../../src-shared/contract/executions.ts'
import { createStreamRedactor, redactTail } from '../platform/text/redact-stream.ts'
import type { Logs } from '../ports/logs.ts'
import { createAgentLog } from './agent-log.ts'
import { followLog, nextChange, openIfThere } from './follow-log.ts'
import { createLiveLogs } from './log-file.ts'
import { agentLogNames, logKind, LogNameError, taskFolder } from './log-names.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

/** Limits a script's log, since more would be useless to readers. */
const maxScriptLogBytes = 50 * 1024 * 1024
/** An agent's raw log keeps beginning and end: a runaway must not fill the disk. */
const maxRawLogBytes = 64 * 1024 * 1024
const rawTailBytes = 4 * 1024 * 1024
const maxSliceBytes = 4 * 1024 * 1024

/** Stores logs as files below `dir`: a folder per task, readable by their owner only. */
export function createLogs({ dir }: { readonly dir: string }): Logs {
  const live = createLiveLogs()
  const folderOf = async (taskId: string): Promise<string> => {
    const folder = taskFolder(dir, taskId)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  return {
    async openAgent({ task_id, execution_id, redact, onEntry }) {
      const names = agentLogNames(execution_id)
      const folder = await folderOf(task_id)
      const raw = await live.openWriter(join(folder, names.raw), {
        maxBytes: maxRawLogBytes,
        tail: { bytes: rawTailBytes, show: (bytes) => redactTail(bytes, redact) },
        records: false,
      })
      try {
        const options = { maxBytes: Infinity, records: true }
        const transcript = await live.openWriter(join(folder, names.transcript), options)
        return createAgentLog({ transcript, raw, redact, onEntry })
      } catch (error) {
        await raw.close()
        throw error
      }
    },
    async cutAgent(task_id, execution_id, sizes) {
      const names = agentLogNames(execution_id)
      const folder = taskFolder(dir, task_id)
      for (const [name, size] of [
        [names.transcript, sizes.transcript],
        [names.raw, sizes.raw],
      ] as const) {
        const path = join(folder, name)
        const found = await stat(path, { throwIfNoEntry: false })
        if (found && found.size > size) await truncate(path, size)
      }
    },
    async openFile(task_id, name, redact) {
      const kind = logKind(name)
      if (kind === null) throw new LogNameError(`${name} is not the name of a log.`)
      const folder = await folderOf(task_id)
      const file = await live.openWriter(join(folder, name), {
        maxBytes: maxScriptLogBytes,
        // One line, which a full disk may have cut.
        records: kind === 'hook',
      })
      const stream = createStreamRedactor(redact)
      let closing: Promise<void> | undefined
      return {
        write: (bytes) => file.append(stream.push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)),
        close: () => (closing ??= afterwards(file.append(stream.flush()), () => file.close())),
      }
    },
    async writeKnowledge(task_id, text) {
      const path = join(await folderOf(task_id), 'knowledge.md')
      await writeFile(path, text, { mode: 0o600 })
      return path
    },
    async list(task_id, execution_id) {
      const folder = taskFolder(dir, task_id)
      const names = (await namesIn(folder)).filter((name) => belongsTo(name, execution_id))
      const files = await Promise.all(names.map((name) => describe(folder, name)))
      return files.filter((file) => file !== null)
    },
    forget: (task_id) => rm(taskFolder(dir, task_id), { recursive: true, force: true }),
    async read(task_id, name, offset, limit, wait) {
      if (logKind(name) === null) return null
      const path = join(taskFolder(dir, task_id), name)
      // Read first: a log closed after this is only seen as complete by the next call.
      const version = live.version(path)
      const growing = live.isLive(path)
      const slice = await readSlice(path, offset, limit, growing)
      if (!wait || !growing || slice?.data_base64 !== '') return slice
      const signal = AbortSignal.any([wait.signal, AbortSignal.timeout(wait.ms)])
      if (live.version(path) === version) await nextChange(live, path, signal)
      return await readSlice(path, offset, limit, live.isLive(path))
    },
    follow: (task_id, execution_id, from, options) =>
      followLog(live, join(taskFolder(dir, task_id), agentLogNames(execution_id).transcript), from, options),
  }
}

/**
 * Returns whether a log belongs to an execution: its own, and the task's CI and hook logs, but not those of other
 * executions.
 */
function belongsTo(name: string, executionId: string | undefined): boolean {
  const kind = logKind(name)
  if (kind === null) return false
  return executionId === undefined || kind !== 'agent' || name.startsWith(`agent-${executionId}.`)
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function describe(folder: string, name: string): Promise<LogFile | null> {
  const kind = logKind(name)
  const info = await stat(join(folder, name), { throwIfNoEntry: false })
  return kind && info?.isFile() ? { name, kind, size: info.size, updated_at: info.mtime.toISOString() } : null
}

async function readSlice(path: string, offset: number, limit: number, growing: boolean): Promise<LogSlice | null> {
  const file = await openIfThere(path)
  if (!file) return null
  try {
    const { size } = await file.stat()
    const start = Math.min(Math.max(0, offset), size)
    const length = Math.min(Math.max(0, limit), size - start, maxSliceBytes)
    const buffer = Buffer.alloc(length)
    const { bytesRead } = await file.read(buffer, 0, length, start)
    const next_offset = start + bytesRead
    const data_base64 = buffer.toString('base64', 0, bytesRead)
    return { data_base64, next_offset, complete: !growing && next_offset >= size }
  } finally {
    await file.close()
  }
}
