import type { StateGlyphName } from '../../model/workflow-shape.ts'

type State = Readonly<Record<string, unknown>>

/** What people call a state; its name where it has no label. */
export const labelOf = ({ name, label }: State): string =>
  typeof label === 'string' && label !== '' ? label : String(name)

/** What stands on an edge of the graph; the list of transitions has all of it. */
export const edgeWord = (label: string): string => (label.length > 24 ? `${label.slice(0, 23)}…` : label)

/** What a state is for, where its kind does not tell. */
const purposes: Partial<Record<StateGlyphName, string>> = {
  merging: 'merge',
  'merge-failed': 'failed merges',
  blocked: 'blocked tasks',
  cancelled: 'from every state',
}

/** Who works in a state, and what kind it is. */
export function aboutState(state: State, glyph: StateGlyphName = 'custom'): string {
  return [state['role'], purposes[glyph] ?? state['kind']].filter((each) => typeof each === 'string').join(', ')
}
