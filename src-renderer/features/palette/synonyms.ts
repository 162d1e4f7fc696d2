/** Words that people look for, by the command or settings page that they mean. */
export const synonyms: Readonly<Record<string, string>> = {
  stop: 'end kill abort halt',
  start: 'run claim launch',
  merge: 'land ship conflict',
  changes: 'diff files',
  review: 'checks conflict verdict',
  'request-changes': 'reject send back feedback',
  appearance: 'theme dark light mode color',
  keyboard: 'shortcuts keys bindings',
  notifications: 'sound mute alerts',
  storage: 'worktree snapshot disk space orphan',
  account: 'password sign out sessions token',
  people: 'users invite',
  api: 'mcp token',
}
