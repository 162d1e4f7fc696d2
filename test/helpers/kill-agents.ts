/**
 * The common beginning of all agents of the kill test. None ever removes what it wrote: a file is put in place whole
 * by a rename, and written again only once it is committed. So whatever exists at a kill must be found afterwards.
 */
const words = `
set -e
G=$(git rev-parse --absolute-git-dir)
T="tasks/$SVC_TASK_ID/$SVC_EXECUTION_ID"
n=0
put() {
  n=$((n+1)); mkdir -p "$(dirname "$1")"
  printf 'work of %s\\n%s %s\\nend\\n' "$SVC_TASK_ID" "$SVC_EXECUTION_ID" "$n" > "$G/put-$$"
  mv "$G/put-$$" "$1"
}
keep() { git add -A; git diff --cached --quiet || git commit -qm "$1 of $SVC_TASK_ID"; }
keep leftovers
`

const agents = {
  quick: 'put $T/one; keep one; put $T/two; keep two; put $T/three; put "tracked/$((n%5)).txt"; echo done',
  slow: 'for i in 1 2 3 4 5 6 7 8 9; do put "$T/part $i/ü"; sleep 0.1; case $i in 3|6) keep "part $i";; esac; done; echo done',
  // Its children must be found too, even outside its process group.
  endless: 'put $T/one; keep one; put $T/two; git add -A; put $T/three; sleep 600 & setsid sleep 600 & sleep 600',
  clashing: 'put $T/one; put shared.txt; keep clash; put $T/two; echo done',
  failing: 'put $T/one; keep one; put $T/two; exit 3',
  wandering: 'put $T/one; keep one; git switch -q --detach; put $T/two; keep two; put $T/three; sleep 0.3; echo done',
} as const

export type AgentKind = keyof typeof agents

/** How often each kind is chosen. */
export const agentKinds: readonly AgentKind[] = [
  ...(['quick', 'quick', 'quick', 'slow', 'slow', 'slow', 'endless', 'endless'] as const),
  ...(['clashing', 'failing', 'wandering'] as const),
]

export const commandOf = (kind: AgentKind): string => `${words}${agents[kind]}`

/** Every kind with its command. */
export const agentCommands: readonly (readonly [AgentKind, string])[] = (Object.keys(agents) as AgentKind[]).map(
  (kind) => [kind, commandOf(kind)],
)

/** Whether a file's text is complete and an agent's. */
export const isWork = (text: string): boolean => /^work of \S+\n\S+ \d+\nend\n$/.test(text)

/** CI: the file is there. */
export const ciStep = 'ls tasks/$SVC_TASK_ID > /dev/null && sleep 0.1'
