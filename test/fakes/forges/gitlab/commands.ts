import type { Noteable, State } from './state.ts'

const names = ['close', 'reopen', 'merge', 'draft', 'ready', 'label', 'unlabel', 'approve', 'assign', 'title', 'cc']

/** A line with a command that it knows, outside of code between fences. */
const command = new RegExp(
  `(?<code>^\`\`\`\\n.+?\\n\`\`\`$)|(?:^/(?<cmd>${names.join('|')})(?: (?<arg>[^\\n]*))?(?:\\s*\\n|$))`,
  'gims',
)

/** Takes the commands out of a text, and does what they say to its issue or merge request. */
export function runCommands(state: State, on: Pick<Noteable, 'state' | 'labels'>, text: string): string {
  return text
    .replaceAll('\r', '')
    .replace(command, (whole: string, ...rest: unknown[]) => {
      const groups = rest.at(-1) as { readonly cmd?: string; readonly arg?: string }
      if (groups.cmd === undefined) return whole
      state.commands.push(`/${groups.cmd}`)
      if (groups.cmd.toLowerCase() === 'close') on.state = 'closed'
      if (groups.cmd.toLowerCase() === 'label') on.labels.add((groups.arg ?? '').replace('~', ''))
      return ''
    })
    .trimEnd()
}
