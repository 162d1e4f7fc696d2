const dropped = /^(?:SVC_|ELECTRON_|npm_|NODE_OPTIONS$)/

/**
 * The environment of agents and scripts: the person's own, without what belongs to this service
 * (its `SVC_` settings and secrets, Electron's and npm's variables, Node's options), plus the given ones.
 */
export function childEnvironment(
  given: Readonly<Record<string, string>>,
  inherited: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !dropped.test(name)) environment[name] = value
  }
  return { ...environment, ...given }
}
