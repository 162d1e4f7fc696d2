import type { AgentNeeds } from '../definition.ts'

const state = (word: string, ...folders: readonly string[]): AgentNeeds => ({
  word,
  isWholeWord: true,
  folders,
  hosts: [],
})

/** Returns the folders that programs use which follow the XDG base directories. */
export const xdg = (name: string): readonly string[] =>
  ['~/.config', '~/.local/share', '~/.local/state'].map((base) => `${base}/${name}`)

/** Agents without an executor of their own, which run as a command or over ACP: where each keeps its own state. */
export const knownAgents: readonly AgentNeeds[] = [
  state('pi', '~/.pi'),
  state('cn', '~/.continue'),
  state('cline', '~/.cline'),
  state('kilo', '~/.kilocode', ...xdg('kilo'), '~/.local/state/kilo-sandbox-policy'),
  state('kilocode', '~/.kilocode', ...xdg('kilo')),
  state('crush', ...xdg('crush')),
  state('goose', ...xdg('goose')),
  state('aider', '~/.aider'),
  state('amp', ...xdg('amp')),
  state('auggie', '~/.augment'),
  state('droid', '~/.factory'),
  state('cursor-agent', '~/.cursor', '~/.config/cursor'),
  state('nanocoder', ...xdg('nanocoder')),
  state('grok', '~/.grok'),
  state('kimi', '~/.kimi-code', '~/.kimi'),
  state('reasonix', '~/.reasonix', '~/.config/reasonix'),
]
