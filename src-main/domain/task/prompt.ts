export interface PromptFacts {
  readonly role: string
  readonly title: string
  readonly description: string | null
  readonly base_branch: string
  /** The newest rejection's words, when the work comes back. */
  readonly feedback: string | null
  /** The agent goes on in the session where it knows the task already. */
  readonly resumed: boolean
  /** The role works at a gate: it judges instead of building. */
  readonly judges: boolean
  readonly review_prompt: string | null
  readonly has_mcp: boolean
}

/** What an agent is told, from the general to the particular. */
export function composePrompt(facts: PromptFacts): string {
  if (facts.resumed && facts.feedback !== null && !facts.judges) {
    return `The work on "${facts.title}" came back from review. Address this, then finish as before:\n\n${facts.feedback}`
  }
  const parts = [`# ${facts.title}`]
  if (facts.description) parts.push(facts.description)
  parts.push(facts.judges ? judgePart(facts) : workPart(facts))
  if (facts.feedback !== null && !facts.judges) parts.push(`## Feedback from the last review\n\n${facts.feedback}`)
  return parts.join('\n\n')
}

function workPart(facts: PromptFacts): string {
  return [
    '## How to work',
    `You are in a git worktree of your own; its branch was made for this task from ${facts.base_branch}. Change what the task needs, check your work, and commit it on this branch. Do not push, merge or switch branches.`,
    'Nobody can answer while you work: decide sensibly, and say at the end what you did and what is left open.',
  ].join('\n\n')
}

function judgePart(facts: PromptFacts): string {
  const how = facts.has_mcp
    ? 'Give your verdict with the tool svc_submit_verdict: pass, or fail with feedback that the author can act on.'
    : 'Give your verdict over the API at $SVC_API_URL: POST /api/v1/tasks/$SVC_TASK_ID/verdict with the token in $SVC_API_TOKEN.'
  return [
    `## Your part: ${facts.role}`,
    facts.review_prompt ??
      `Judge the work on this branch against the task. Look at what changed since ${facts.base_branch} (git diff ${facts.base_branch}...HEAD and the working tree). Change nothing yourself.`,
    how,
  ].join('\n\n')
}
