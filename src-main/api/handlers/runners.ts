import { ApiError } from '../../../src-shared/contract/errors.ts'
import { defaultRunner, isConfigOf, type RunnerConfig, type RunnerKind } from '../../../src-shared/contract/runners.ts'
import { actorOf, isAdmin, mayOnlyRead, type Principal } from '../../domain/access/principal.ts'
import type { RunnerRecord } from '../../ports/runner-queries.ts'
import { checkExtraPaths } from '../containment.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findRunner, unwrap } from '../find.ts'
import { defined } from '../new-task.ts'

type Names =
  | 'runners.list'
  | 'runners.get'
  | 'runners.create'
  | 'runners.update'
  | 'runners.delete'
  | 'runners.check'
  | 'runners.trust'

export function createRunnerHandlers(parts: ApiParts): Handlers<Names> {
  const { store, engine } = parts
  const { runners } = engine
  const viewFor = (principal: Principal, record: RunnerRecord) =>
    engine.views.runner(record, isAdmin(principal) && !mayOnlyRead(principal))
  return {
    'runners.list': (_input, { principal }) => ({
      items: store.read.runners.list().map((record) => viewFor(principal, record)),
    }),
    'runners.get': ({ runner_id }, { principal }) => viewFor(principal, findRunner(store.read, runner_id)),
    'runners.create': ({ name, kind, config, ...options }, { principal }) => {
      checkConfig(parts, kind, config)
      checkGrace(kind, options.grace_seconds)
      return viewFor(principal, unwrap(runners.create({ ...defaultRunner, ...defined(options), name, kind, config })))
    },
    'runners.update': ({ runner_id, ...change }, { principal }) => {
      const { kind } = findRunner(store.read, runner_id)
      if (change.config) checkConfig(parts, kind, change.config)
      checkGrace(kind, change.grace_seconds)
      return viewFor(principal, unwrap(runners.update(runner_id, defined(change))))
    },
    'runners.delete': ({ runner_id }) => {
      const refusal = runners.remove(runner_id)
      if (refusal) throw new ApiError(refusal)
      return null
    },
    'runners.check': async ({ runner_id }, { principal }) => {
      const { runner, steps } = unwrap(await runners.check(runner_id))
      return { runner: viewFor(principal, runner), steps: [...steps] }
    },
    'runners.trust': (content, { principal }) => unwrap(runners.trust(content, actorOf(principal))),
  }
}

function checkConfig(parts: ApiParts, kind: RunnerKind, config: RunnerConfig): void {
  if (!isConfigOf(kind, config)) {
    const message = configHints[kind] ?? 'This is the configuration of another type.'
    throw new ApiError({ code: 'validation_failed', message: `config: ${message}` })
  }
  if ('mounts' in config) checkExtraPaths(parts, 'config.mounts', config.mounts)
}

const configHints: Partial<Record<RunnerKind, string>> = {
  container: 'A container needs an `image`.',
  ssh: 'A runner over SSH needs a `host`.',
  kubernetes: 'A runner in Kubernetes needs a `namespace` and an `image`.',
  daemon: 'A machine that connects from its side has `shared` alone.',
}

function checkGrace(kind: RunnerKind, grace_seconds: number | undefined): void {
  if (grace_seconds === undefined || kind !== 'container') return
  const message = 'A container is never out of contact. Leave `grace_seconds` out.'
  throw new ApiError({ code: 'validation_failed', message })
}
