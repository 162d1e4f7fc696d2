const dropped = /^(?:SVC_|ELECTRON_|npm_|NODE_OPTIONS$)/

const withheld = new Set<string>()

/** From now on no program that Copse starts inherits this variable: it holds a secret of Copse's own. */
export function withholdVariable(name: string): void {
  withheld.add(name)
}

/**
 * The environment of agents and scripts: the person's own, without what belongs to this service
 * (its `SVC_` settings and secrets, variables that integrations name, Electron's and npm's, Node's options), plus the
 * given ones.
 */
export function childEnvironment(
  given: Readonly<Record<string, string>>,
  inherited: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !dropped.test(name) && !withheld.has(name)) environment[name] = value
  }
  return { ...environment, ...given }
}
