import { eventsLog, type JobEvent } from '../../../src-shared/contract/job-events.ts'
import type { JobEnd } from '../../jobs/job.ts'
import type { Place } from '../../ports/place.ts'
import type { ScriptResult, ScriptRun, Scripts } from '../../ports/scripts.ts'
import { createEventReader } from './read-events.ts'
import type { StartJob } from './start-job.ts'

const cancelledCode = 130
const notStartedCode = 126

/** Runs scripts on a runner, as jobs of one step. */
export function createRemoteScripts(
  startJob: StartJob,
  runner: { readonly name: string },
  levelThere: Place['containment']['effectiveLevel'],
): Scripts {
  return {
    // A job ends with its lease.
    reap: () => Promise.resolve(),
    run: async (script, { signal }) => {
      const since = performance.now()
      const ended = (exit_code: number, output_tail = ''): ScriptResult => ({
        exit_code,
        output_tail,
        timed_out: false,
        duration_ms: Math.round(performance.now() - since),
      })
      if (signal.aborted) return ended(cancelledCode)
      let result: ScriptResult | null = null
      let isLeft = false
      let writing: Promise<void> = Promise.resolve()
      const take = (event: JobEvent): void => {
        if (isLeft) return
        if (event.type === 'step') result = event
        if (event.type !== 'output') return
        const bytes = Buffer.from(event.data, 'base64')
        script[event.from]?.push(bytes)
        script.onOutput?.()
        writing = writing.then(() => script.log?.write(bytes))
      }
      const readEvents = createEventReader(take)
      const job = await startJob.start({
        kind: 'steps',
        cwd: script.cwd,
        spec: specOf(script, levelThere),
        files: Object.values(script.env).filter((value) => value.startsWith('/') && value.endsWith('.md')),
        onLog: async (name, bytes) => {
          if (name === eventsLog) readEvents.push(bytes)
          await writing
          return null
        },
        onAsk: () => undefined,
        onLink: () => leaveIfLost(),
      })
      const left = Promise.withResolvers<null>()
      // What was stopped there ends once the runner hears of it, for which no one here waits.
      const leaveIfLost = (): void => {
        if (signal.aborted && job.isLinkLost()) left.resolve(null)
      }
      const stop = (): void => {
        job.stop()
        leaveIfLost()
      }
      signal.addEventListener('abort', stop, { once: true })
      job.begin()
      if (signal.aborted) stop()
      const end = await Promise.race([job.ended, left.promise])
      isLeft = true
      signal.removeEventListener('abort', stop)
      await writing
      job.settle()
      if (signal.aborted || end === null) return ended(cancelledCode)
      if (result !== null) return result
      const not_run = reasonFor(end, runner.name)
      const note = Buffer.from(`${not_run}\n`)
      script.stderr?.push(note)
      await script.log?.write(note)
      return { ...ended(notStartedCode, note.toString('utf8')), not_run }
    },
  }
}

/** Returns why a step has no result, with what to do. */
function reasonFor(end: JobEnd, runner: string): string {
  // The runner says itself what to do.
  if (end.kind === 'finished') return `${runner} could not run this to its end. ${end.report.message ?? ''}`.trim()
  const why = end.kind === 'withdrawn' ? 'Copse was stopped.' : end.why
  return `${runner} did not run this to its end. ${why} Check that runner or choose another one in the project’s settings, then retry.`
}

function specOf(
  { command, env, timeout_ms, containment }: ScriptRun,
  levelThere: Place['containment']['effectiveLevel'],
) {
  return {
    execution: null,
    agent: null,
    prompt: '',
    env: { ...env },
    session_id: null,
    steps: [{ command, timeout_ms }],
    containment: containment
      ? {
          level: levelThere(containment.level),
          ...(containment.hosts && { hosts: [...containment.hosts] }),
          ...(containment.read && { read: [...containment.read] }),
          ...(containment.write && { write: [...containment.write] }),
        }
      : null,
  }
}
