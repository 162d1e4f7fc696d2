import type { Clock } from '../../ports/clock.ts'
import type { Forges, ForgeSource } from '../../ports/forges.ts'
import type { ForgeApi, ForgeDialect } from './forge-requests.ts'
import type { Recall } from './recall.ts'

type WithoutLast<A extends readonly unknown[]> = A extends readonly [...infer Rest, unknown] ? Rest : never

/** The port's methods for one source, and within one request of Copse's. */
export type BoundForge = {
  readonly [K in keyof Forges]: Forges[K] extends (source: ForgeSource, ...rest: infer Rest) => infer Result
    ? (...rest: WithoutLast<Rest>) => Result
    : never
}

/** What a platform gets to make them. */
export interface ForgeContext {
  readonly source: ForgeSource
  readonly api: (dialect: ForgeDialect) => ForgeApi
  readonly recall: Recall
  /** What was done from here and the forge doesn't tell; lost at the end of the process. */
  readonly marks: Map<string, string>
  readonly clock: Clock
}
