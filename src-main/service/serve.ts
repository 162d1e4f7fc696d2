import { installCrashHandler } from '../platform/logging/crash-handler.ts'
import { startService, StartRefused, type Service, type StartOptions } from './start-service.ts'

/** How a service announces itself, and what ends it besides a signal. */
export interface Presence {
  /** Resolves when the opened window has ended the service; never resolves without one. */
  readonly ended: Promise<void>
}

/**
 * Runs the service until SIGINT, SIGTERM, SIGHUP or its presence ends it, then drains. Resolves to the exit code;
 * prints why a start failed as one line on stderr.
 */
export async function serve(
  options: StartOptions,
  present: (service: Service, signal: AbortSignal) => Promise<Presence>,
): Promise<number> {
  installCrashHandler()
  const interrupted = interruption()
  let service: Service
  try {
    service = await startService(options)
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
    process.stderr.write(`copse: ${error.message}\n`)
    return error.exitCode
  }
  await using _ = service
  const { ended } = await present(service, interrupted.signal)
  await Promise.race([ended, interrupted.happened])
  interrupted.abort()
  return 0
}

/** Catches interrupts. The handlers stay, because a second Ctrl-C while draining must not cut the agents' logs. */
function interruption(): { signal: AbortSignal; happened: Promise<void>; abort(): void } {
  const controller = new AbortController()
  const happened = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve())
  })
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => controller.abort())
  return { signal: controller.signal, happened, abort: () => controller.abort() }
}

/** `ended` of a presence that only a signal ends. */
export const never: Promise<void> = new Promise(() => undefined)
