const dropped = /^(?:SVC_|ELECTRON_|npm_|NODE_OPTIONS$)/

const withheld = new Set<string>()

/** Removes this variable, a secret of Copse, from the environment of all programs that are started from now on. */
export function withholdVariable(name: string): void {
  withheld.add(name)
}

/**
 * Returns the environment of agents and scripts: the user's own and the given variables, without what belongs to this
 * service (`SVC_` settings and secrets, variables that integrations name, Electron's and npm's, Node's options).
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
