import type { AgentQueries } from '../ports/agent-queries.ts'
import type { IntegrationQueries } from '../ports/integration-queries.ts'

/** Secrets whose text is known, so that they can be redacted literally. */
export interface KnownSecrets {
  /** Secrets from agents' environments of the runs since the start, and from variables that integrations name. */
  values(): readonly string[]
  /** Adds the secrets of a run's environment. */
  remember(env: Readonly<Record<string, string>>): void
}

/** `variable` reads an environment variable of the service; '' without one. */
export function createKnownSecrets(
  q: { readonly agents: AgentQueries; readonly integrations: IntegrationQueries },
  variable: (name: string) => string,
): KnownSecrets {
  const ofRuns = new Set<string>()
  return {
    values: () => {
      const agents = q.agents.list().flatMap(({ config }) => secretValues(config.env ?? {}))
      const named = q.integrations
        .list()
        .flatMap(({ token_secret_ref, webhook_secret_ref }) => [
          variable(token_secret_ref),
          webhook_secret_ref === null ? '' : variable(webhook_secret_ref),
        ])
      return [...agents, ...ofRuns, ...named]
    },
    remember: (env) => {
      for (const value of secretValues(env)) ofRuns.add(value)
    },
  }
}

const secretName = /key|token|secret|passw|passphrase|pwd|credential|auth|private|cookie|session/i
/** Paths, addresses without credentials, numbers and plain words: redacting them would make logs unreadable. */
const plainValue = /^(?:[~.]{0,2}\/[^:@]*|https?:\/\/[^@?\s]*|[\d.,:]+|[a-z]+|[A-Z]+)$/

/**
 * Returns the values of an environment to redact: all except plain values, unless the variable's name suggests a
 * secret.
 */
function secretValues(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env)
    .filter(([name, value]) => secretName.test(name) || !plainValue.test(value))
    .map(([, value]) => value)
}
