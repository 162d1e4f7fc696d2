import type { Arity, RefusedArgs } from '../agent/filter-args.ts'

/** Flags that the agents with a protocol mode have in common: other ways to run, to be asked and to resume. */
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

/** What the own arguments of such an agent may not hold; `flags` are those that only this one has. */
export const acpRefusedArgs = (flags: Readonly<Record<string, Arity>> = {}): RefusedArgs => ({
  flags: { ...common, ...flags },
  // A short flag may mean anything; the long ones say what they mean.
  allowedShort: /^$/,
  shortWithValue: /^-[miprswo]$/,
})
