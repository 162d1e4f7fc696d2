/** Shortens a path below the service user's home folder with `~`. */
export function shortPath(path: string, home: string): string {
  if (home === '' || !path.startsWith(home)) return path
  const rest = path.slice(home.length)
  return rest === '' || /^[/\\]/.test(rest) ? `~${rest}` : path
}

/** Returns the shell command that changes to a folder. */
export function folderCommand(path: string): string {
  if (/^[A-Za-z]:[\\/]/.test(path)) return `cd /d "${path}"`
  return /^[\w./@%+=:,-]+$/.test(path) ? `cd ${path}` : `cd '${path.replaceAll("'", `'\\''`)}'`
}
