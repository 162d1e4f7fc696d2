import type { DevEnvironment } from './devcontainer/environment.ts'
import type { EngineClient } from './engine-client.ts'

/** The engine of a runner. */
export interface Engine {
  readonly client: EngineClient
  /** Arguments by which files belong to this service's user. */
  readonly user: readonly string[]
}

/** What a container stands on. */
export interface Ground extends Engine {
  readonly image: string
  /** The runner's kept folder of programs; null without setup commands. */
  readonly tools: string | null
  /** How programs run in the project's dev container, if the runner uses these. */
  readonly dev?: DevEnvironment
}
