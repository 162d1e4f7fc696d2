/** What to type into a terminal to be in a folder. */
export function folderCommand(path: string): string {
  if (/^[A-Za-z]:[\\/]/.test(path)) return `cd /d "${path}"`
  return /^[\w./@%+=:,-]+$/.test(path) ? `cd ${path}` : `cd '${path.replaceAll("'", `'\\''`)}'`
}
