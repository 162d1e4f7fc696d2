/** The folder of a person, at the head of a path. */
const HOME = /^(?:\/(?:home|Users)\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\])/

/** A path with `~` for the home of whoever runs the service, where it lies there. `dataDir`: it lies there, too. */
export function shortPath(path: string, dataDir: string): string {
  const home = HOME.exec(dataDir)?.[0]
  if (home === undefined || HOME.exec(path)?.[0] !== home) return path
  return `~${path.slice(home.length)}`
}
