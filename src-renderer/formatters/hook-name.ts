/** Returns a hook's name in lists: its plugin, or the first line of its script that is neither a comment nor `set`. */
export function hookName(hook: {
  readonly command?: string | undefined
  readonly plugin?: string | undefined
}): string {
  if (hook.plugin !== undefined) return `plugin: ${hook.plugin}`
  const lines = (hook.command ?? '').split('\n').map((line) => line.trim())
  const commands = lines.filter((line) => line !== '' && !line.startsWith('#') && !/^set [-+]/.test(line))
  const first = commands[0] ?? lines.find((line) => line !== '') ?? 'Empty script'
  return commands.length > 1 ? `${first} …` : first
}
