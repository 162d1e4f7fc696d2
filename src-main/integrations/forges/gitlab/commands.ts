/** What GitLab takes for a command, known to it or not: a word after a slash, alone or before a space. */
const command = /^\/(?=[a-z][a-z_]*(?:\s|$))/gim
const escaped = /^\\\/(?=[a-z][a-z_]*(?:\s|$))/gim

/**
 * Writes commands at the begin of lines so that they stay text: a comment that quotes `/merge` must not merge. In code
 * too: what counts as code, GitLab's commands and its pages read differently.
 */
export function escapeCommands(text: string): string {
  // It drops carriage returns before it looks for lines.
  return text.replaceAll('\r', '').replace(command, '\\/')
}

/** Returns the text that was written. */
export function unescapeCommands(text: string): string {
  return text.replace(escaped, '/')
}
