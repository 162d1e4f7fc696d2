import type { EngineClient } from './engine-client.ts'

/** What every container of a runner stands on. */
export interface Ground {
  readonly client: EngineClient
  /** Arguments by which files belong to this service's user. */
  readonly user: readonly string[]
  /** The runner's kept folder of programs; null without setup commands. */
  readonly tools: string | null
}
