import { HookRun } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Logs } from '../ports/logs.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

/** More than the two outputs, the command and the environment can take as JSON. */
const maxLogBytes = 2 * 1024 * 1024
/** Of `2026-11-21T19-30-00-123Z.jsonl`. */
const timestampLength = 30

const Line = HookRun.omit({ log_name: true })

/** The finished runs of a task's hooks, from their logs: the newest `limit` of them, newest first. */
export async function readHookRuns(logs: Logs, task_id: TaskId, limit: number): Promise<readonly HookRun[]> {
  const names = (await logs.list(task_id))
    .filter(({ kind, name }) => kind === 'hook' && name.endsWith('.jsonl'))
    .map(({ name }) => name)
    .sort((a, b) => (a.slice(-timestampLength) < b.slice(-timestampLength) ? 1 : -1))
    .slice(0, limit)
  const runs = await Promise.all(names.map((name) => readRuns(logs, task_id, name)))
  return runs.flat()
}

async function readRuns(logs: Logs, task_id: TaskId, name: string): Promise<readonly HookRun[]> {
  const slice = await logs.read(task_id, name, 0, maxLogBytes)
  if (!slice) return []
  const lines = Buffer.from(slice.data_base64, 'base64').toString('utf8').split('\n')
  return lines.flatMap((line) => {
    const parsed = parse(line)
    return parsed ? [{ log_name: name, ...parsed }] : []
  })
}

/** A line that a power loss has damaged is passed over. */
function parse(line: string): Omit<HookRun, 'log_name'> | null {
  return Line.safeParse(parseJson(line)).data ?? null
}
