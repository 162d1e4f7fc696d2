import type { StateGlyphName } from '../../model/workflow-shape.ts'

type State = Readonly<Record<string, unknown>>

/** Returns the label of a state, or its name. */
export const labelOf = ({ name, label }: State): string =>
  typeof label === 'string' && label !== '' ? label : String(name)

/** Returns the label of an edge, shortened; the list of transitions has the full text. */
export const edgeWord = (label: string): string => (label.length > 24 ? `${label.slice(0, 23)}…` : label)

/** The purposes of states that their kinds don't tell. */
const purposes: Partial<Record<StateGlyphName, string>> = {
  merging: 'merge',
  'merge-failed': 'failed merges',
  blocked: 'blocked tasks',
  cancelled: 'from every state',
}

/** Returns the role and the kind of a state. */
export function aboutState(state: State, glyph: StateGlyphName = 'custom'): string {
  return [state['role'], purposes[glyph] ?? state['kind']].filter((each) => typeof each === 'string').join(', ')
}
