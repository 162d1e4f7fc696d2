/** Names that nothing else has. `command` and `external` are also words: of them, what they are compared with tells. */
const unmistakable = ['claude-code', 'codex', 'gemini', 'copilot', 'qwen', 'opencode', 'acp']
const words = ['command', 'external']

const isNamed = (node) =>
  (node?.type === 'MemberExpression' && node.property.name === 'executor') ||
  (node?.type === 'Identifier' && node.name === 'executor')

/** What a literal is compared with, chosen by or assigned to. */
function otherSide({ parent, range }) {
  if (parent.type === 'BinaryExpression') return parent.left.range[0] === range[0] ? parent.right : parent.left
  if (parent.type === 'SwitchCase') return parent.parent.discriminant
  if (parent.type === 'Property') return parent.key
  return parent.type === 'AssignmentExpression' ? parent.left : null
}

const isKey = (node) => node.parent.type === 'Property' && node.parent.key === node

/**
 * A type of agent is not named outside its folder: what differs between types is a field of its record.
 */
export const noExecutorNames = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      named: "Ask executorInfos for what this depends on, not for the agent '{{name}}' by its name.",
    },
  },
  create(context) {
    const visitor = {
      Literal(node) {
        const { value, parent } = node
        if (isKey(node) || parent.type === 'TSLiteralType' || parent.type.startsWith('Import')) return
        if (!unmistakable.includes(value) && !(words.includes(value) && isNamed(otherSide(node)))) return
        context.report({ node, messageId: 'named', data: { name: value } })
      },
    }
    return context.sourceCode.parserServices?.defineTemplateBodyVisitor?.(visitor, visitor) ?? visitor
  },
}
