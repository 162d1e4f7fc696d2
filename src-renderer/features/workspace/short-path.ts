/** A path with `~` for the home folder of whoever runs the service, where it lies there. */
export function shortPath(path: string, home: string): string {
  if (home === '' || !path.startsWith(home)) return path
  const rest = path.slice(home.length)
  return rest === '' || /^[/\\]/.test(rest) ? `~${rest}` : path
}
