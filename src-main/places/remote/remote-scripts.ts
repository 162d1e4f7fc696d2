import { eventsLog, type JobEvent } from '../../../src-shared/contract/job-events.ts'
import type { ScriptResult, ScriptRun, Scripts } from '../../ports/scripts.ts'
import { createEventReader } from './read-events.ts'
import type { StartJob } from './start-job.ts'

const cancelledCode = 130
const notStartedCode = 126

/** Runs scripts on a runner, as jobs of one step. */
export function createRemoteScripts(startJob: StartJob): Scripts {
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
      let writing: Promise<void> = Promise.resolve()
      const take = (event: JobEvent): void => {
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
        spec: specOf(script),
        files: Object.values(script.env).filter((value) => value.startsWith('/') && value.endsWith('.md')),
        onLog: async (name, bytes) => {
          if (name === eventsLog) readEvents.push(bytes)
          await writing
          return null
        },
        onAsk: () => undefined,
        onLink: () => undefined,
      })
      const stop = (): void => job.stop()
      signal.addEventListener('abort', stop, { once: true })
      job.begin()
      const end = await job.ended
      signal.removeEventListener('abort', stop)
      await writing
      job.settle()
      if (signal.aborted) return ended(cancelledCode)
      if (result !== null) return result
      const why = end.kind === 'finished' ? (end.report.message ?? '') : end.kind === 'withdrawn' ? '' : end.why
      const note = Buffer.from(`Could not be run on its runner: ${why}\n`)
      script.stderr?.push(note)
      await script.log?.write(note)
      return ended(notStartedCode, note.toString('utf8'))
    },
  }
}

function specOf({ command, env, timeout_ms, containment }: ScriptRun) {
  return {
    execution: null,
    agent: null,
    prompt: '',
    env: { ...env },
    session_id: null,
    steps: [{ command, timeout_ms }],
    containment: containment
      ? {
          level: containment.level,
          ...(containment.hosts && { hosts: [...containment.hosts] }),
          ...(containment.read && { read: [...containment.read] }),
          ...(containment.write && { write: [...containment.write] }),
        }
      : null,
  }
}
