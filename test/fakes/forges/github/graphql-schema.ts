import { schema as published } from '@octokit/graphql-schema'
import {
  buildSchema,
  GraphQLError,
  isInputObjectType,
  isObjectType,
  NoDeprecatedCustomRule,
  parse,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql'

/** What GitHub Enterprise Server 3.14 lacks of what github.com has, as far as a client of pull requests may ask for it. */
const newer: Readonly<Record<string, readonly string[]>> = {
  Repository: ['mergeQueue'],
  PullRequest: ['isInMergeQueue', 'isMergeQueueEnabled', 'mergeQueue', 'mergeQueueEntry', 'stack', 'stackEntry'],
  PullRequestReviewComment: ['fullDatabaseId'],
  IssueComment: ['fullDatabaseId'],
  Mutation: ['enqueuePullRequest', 'dequeuePullRequest'],
  EnablePullRequestAutoMergeInput: ['expectedHeadOid'],
}

let dotcom: GraphQLSchema | null = null
let enterprise: GraphQLSchema | null = null

/** Returns GitHub's published schema. Building it takes a while, so that it is done once. */
export function schemaOf(isEnterprise: boolean): GraphQLSchema {
  if (!isEnterprise) return (dotcom ??= buildSchema(published.idl, { assumeValid: true }))
  enterprise ??= withoutNewer(buildSchema(published.idl, { assumeValid: true }))
  return enterprise
}

function withoutNewer(schema: GraphQLSchema): GraphQLSchema {
  for (const [name, fields] of Object.entries(newer)) {
    const type = schema.getType(name)
    if (!isObjectType(type) && !isInputObjectType(type)) continue
    for (const field of fields) delete type.getFields()[field]
  }
  return schema
}

export interface Checked {
  readonly document: DocumentNode | null
  /** As GitHub words them; an error of the whole query. */
  readonly errors: readonly unknown[]
  /** Uses of fields that will go. */
  readonly deprecated: readonly string[]
}

/** Checks a query as GitHub does before it runs any of it. */
export function checkQuery(schema: GraphQLSchema, query: string): Checked {
  try {
    const document = parse(query)
    const errors = validate(schema, document).map(inGithubsWords)
    const deprecated = validate(schema, document, [NoDeprecatedCustomRule]).map(({ message }) => message)
    return { document, errors, deprecated }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    return { document: null, errors: [{ message: error.message, locations: error.locations }], deprecated: [] }
  }
}

function inGithubsWords({ message, locations = [] }: GraphQLError): unknown {
  const field = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(message)
  if (field) {
    const [, fieldName, typeName] = field
    return {
      message: `Field '${fieldName}' doesn't exist on type '${typeName}'`,
      extensions: { code: 'undefinedField', typeName, fieldName },
      locations,
    }
  }
  const argument = /^Field "(\w+)" is not defined by type "(\w+)"/.exec(message)
  if (argument) {
    const [, argumentName, name] = argument
    return {
      message: `InputObject '${name}' doesn't accept argument '${argumentName}'`,
      extensions: { code: 'argumentNotAccepted', name, typeName: 'InputObject', argumentName },
      locations,
    }
  }
  return { message, extensions: { code: 'invalid' }, locations }
}
