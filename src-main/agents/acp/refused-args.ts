import type { Arity, RefusedArgs } from '../agent/filter-args.ts'

/** Flags that ACP agents share: other run modes, permissions and resuming. */
const common: Readonly<Record<string, Arity>> = {
  '--acp': 'none',
  '--experimental-acp': 'none',
  '--model': 'one',
  '--prompt': 'one',
  '--prompt-interactive': 'one',
  '--interactive': 'optional',
  '--input-format': 'one',
  '--output-format': 'one',
  '--resume': 'optional',
  '--continue': 'none',
  '--session': 'one',
  '--session-id': 'one',
  '--worktree': 'optional',
  '--version': 'none',
  '--help': 'none',
}

/** The arguments refused for an ACP agent; `flags` are those specific to one agent. */
export const acpRefusedArgs = (flags: Readonly<Record<string, Arity>> = {}): RefusedArgs => ({
  flags: { ...common, ...flags },
  // A short flag may mean anything; long ones are unambiguous.
  allowedShort: /^$/,
  shortWithValue: /^-[miprswo]$/,
})
