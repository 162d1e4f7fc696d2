import { scriptExecutor } from '../../src-shared/contract/executor-profiles.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'

/** The scripted agent: it reads its task, works in visible steps, and commits. */
const script = `
set -e
echo "Reading the task"
head -n 1
sleep 1
echo "Writing greet.sh"
cat > greet.sh <<'EOF'
#!/bin/sh
# Greets the one who is named, or the world.
echo "Hello, \${1:-world}!"
EOF
chmod +x greet.sh
sleep 1
echo "Writing its test"
cat > test.sh <<'EOF'
#!/bin/sh
set -e
test "$(./greet.sh)" = "Hello, world!"
test "$(./greet.sh Copse)" = "Hello, Copse!"
echo "2 greetings are right"
EOF
chmod +x test.sh
sleep 1
git add -A
git -c user.name="Demo agent" -c user.email=demo@localhost commit -q -m "Greet people by name"
echo "Done: greet.sh greets, test.sh proves it"
`

export const demoAgent: Omit<AgentRecord, 'id' | 'owner_id' | 'created_at'> = {
  name: 'Demo agent',
  daemon_id: null,
  executor: scriptExecutor,
  config: { command: script, containment: 'auto' },
  paused: false,
}

export const demoTask = {
  title: 'Greet people by name',
  description:
    'Write `greet.sh`: it prints `Hello, NAME!` for its argument, and greets the world without one. Add `test.sh`, which proves both.',
  review_config: { ci_steps: ['sh -n greet.sh', './test.sh'], review_prompt: null },
}

/** Returns the default workflow with a passed review leading straight to the merge, so that the demo needs no one. */
export function demoWorkflow({ definition, plugins }: Workflow): string {
  const [plugin] = [...plugins].find(([, { traits }]) => traits.includes('follows_review')) ?? []
  const states = definition.states.map((state) => {
    if (state.name !== 'review') return state
    const auto = { plugin, on_success: { cascade: 'merging' } }
    return { ...state, hooks: { ...state.hooks, after_enter: [...(state.hooks?.after_enter ?? []), auto] } }
  })
  return JSON.stringify({ ...definition, states })
}
