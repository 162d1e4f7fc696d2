import { existsSync, readdirSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ExecutionId, JobId, TaskId } from '../../src-shared/contract/ids.ts'
import { JobFinish, JobOffer } from '../../src-shared/contract/jobs.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

/** What another process of the runner must know of a job to end it. */
const KeptJob = z.object({
  offer: JobOffer,
  job: JobId,
  task_id: TaskId,
  execution_id: ExecutionId.nullable(),
  branch: z.string(),
  is_task: z.boolean(),
  max_file_bytes: z.number(),
})
export type KeptJob = z.infer<typeof KeptJob>

/** How a job has ended, without what was sent of it. */
const Ending = JobFinish.omit({ fence: true, logs: true, refs: true, left_there: true })
export type Ending = z.infer<typeof Ending>

/** A job whose process of the runner has ended. `ending` is null where its work had not. */
export interface LeftJob {
  /** Its folder. */
  readonly folder: string
  readonly kept: KeptJob
  readonly ending: Ending | null
}

const jobsFolder = (own: string): string => join(own, 'jobs')

/** The folder of a job, within that of its program. */
export const jobFolder = (own: string, job: string): string => join(jobsFolder(own), job)

export const tasksFolder = (folder: string): string => join(folder, 'tasks')

/** The folder of a task's clone and worktree, within that of the runner. */
export const taskFolder = (folder: string, task_id: string): string => join(tasksFolder(folder), task_id)

export const keepJob = (folder: string, kept: KeptJob): Promise<void> => write(join(folder, 'job.json'), kept)

export const keepEnding = (folder: string, ending: Ending): Promise<void> => write(join(folder, 'end.json'), ending)

/** Returns the jobs that an earlier process of the runner left, but for those that it had not begun. */
export async function readLeftJobs(own: string): Promise<readonly LeftJob[]> {
  const names = await readdir(jobsFolder(own)).catch(() => [])
  const found = await Promise.all(names.map((name) => readLeft(jobFolder(own, name))))
  return found.filter((one) => one !== null)
}

/** Returns whether a program of the runner has a job, or left one. */
export const hasJobs = (own: string): boolean => {
  const folder = jobsFolder(own)
  return existsSync(folder) && readdirSync(folder).length > 0
}

/** Returns the jobs of a program that may run, which it has begun. */
export async function readKeptJobs(own: string): Promise<readonly KeptJob[]> {
  const names = await readdir(jobsFolder(own)).catch(() => [])
  const found = await Promise.all(names.map((name) => read(join(jobFolder(own, name), 'job.json'), KeptJob)))
  return found.filter((one) => one !== null)
}

async function readLeft(folder: string): Promise<LeftJob | null> {
  const kept = await read(join(folder, 'job.json'), KeptJob)
  if (kept !== null) return { folder, kept, ending: await read(join(folder, 'end.json'), Ending) }
  await rm(folder, { recursive: true, force: true })
  return null
}

async function read<T extends z.ZodType>(file: string, shape: T): Promise<z.infer<T> | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  return text === null ? null : (shape.safeParse(parseJson(text)).data ?? null)
}

/** Writes a file whole or not at all. */
async function write(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(value), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
