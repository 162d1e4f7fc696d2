import type { AgentNeeds } from '../definition.ts'

const known = (word: string, folders: readonly string[], hosts: readonly string[] = []): AgentNeeds => ({
  word,
  isWholeWord: true,
  folders,
  hosts,
})

/** Returns the folders that programs use which follow the XDG base directories. */
export const xdg = (name: string): readonly string[] =>
  ['~/.config', '~/.local/share', '~/.local/state'].map((base) => `${base}/${name}`)

/**
 * Agents without an executor of their own, which run as a command or over ACP: where each keeps its own state, and the
 * hosts of its maker's models. Agents for any provider have no hosts. As of 2026-11.
 */
export const knownAgents: readonly AgentNeeds[] = [
  known('pi', ['~/.pi']),
  known('cn', ['~/.continue'], ['*.continue.dev']),
  known('cline', ['~/.cline'], ['*.cline.bot']),
  known(
    'kilo',
    ['~/.kilocode', ...xdg('kilo'), '~/.local/state/kilo-sandbox-policy'],
    ['*.kilo.ai', '*.kilocode.ai', 'models.dev'],
  ),
  known('kilocode', ['~/.kilocode', ...xdg('kilo')], ['*.kilo.ai', '*.kilocode.ai', 'models.dev']),
  known('crush', xdg('crush')),
  known('goose', xdg('goose')),
  known('aider', ['~/.aider']),
  known('amp', xdg('amp'), ['ampcode.com', '*.ampcode.com']),
  known('auggie', ['~/.augment'], ['*.augmentcode.com']),
  known('droid', ['~/.factory'], ['*.factory.ai']),
  known('cursor-agent', ['~/.cursor', '~/.config/cursor'], ['*.cursor.com', '*.cursor.sh']),
  known('nanocoder', xdg('nanocoder')),
  known('grok', ['~/.grok'], ['*.x.ai', '*.grok.com']),
  known('kimi', ['~/.kimi-code', '~/.kimi'], ['*.kimi.com', '*.moonshot.ai', '*.moonshot.cn']),
  known('reasonix', ['~/.reasonix', '~/.config/reasonix'], ['api.deepseek.com']),
]
