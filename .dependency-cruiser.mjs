/**
 * Who may import whom (ARCHITECTURE.md has the table). Every rule's comment says what to do instead.
 * `test/architecture/boundaries.test.ts` plants a violation of each rule and sees it caught.
 */

const shared = { lang: '^src-shared/lang/', contract: '^src-shared/contract/', client: '^src-shared/client/' }
const main = (folder) => `^src-main/${folder}/`
/** Each capability, from the lowest up, with the others that it may import; ADR 9 says what they are. */
export const capabilities = {
  core: [],
  transitions: ['core'],
  workspaces: ['core', 'transitions'],
  runners: ['core'],
  jobs: [],
  executions: ['core', 'transitions', 'workspaces'],
  landing: ['core', 'transitions', 'workspaces'],
  overlaps: ['core', 'transitions', 'workspaces', 'executions'],
  chapters: ['core', 'workspaces'],
  hooks: ['core', 'transitions', 'workspaces', 'landing'],
  plugins: ['core', 'transitions', 'workspaces', 'executions', 'landing', 'hooks'],
  steps: ['core', 'transitions', 'workspaces', 'hooks', 'plugins'],
  tasks: ['core', 'transitions', 'workspaces', 'executions', 'landing', 'hooks', 'steps'],
  stacks: ['core', 'transitions', 'workspaces', 'steps', 'tasks'],
  integrations: ['core', 'tasks'],
  'pull-requests': ['core', 'transitions', 'workspaces', 'executions', 'steps', 'tasks', 'stacks', 'integrations'],
  projects: ['core', 'workspaces', 'tasks', 'integrations'],
}
const everyCapability = [...Object.keys(capabilities), 'engine']
/** Folders that know the ports they implement, and nothing else; some lie below the capability that they serve. */
const adapters = {
  store: 'store',
  git: 'git',
  'hook-scripts': 'hooks/scripts',
  logs: 'logs',
  attachments: 'attachments',
  agents: 'agents',
  containment: 'containment',
  containers: 'containers',
  'issue-trackers': 'integrations/forges',
  identity: 'identity',
  'workflow-files': 'workflow-files',
  syntax: 'chapters/syntax',
}
const adapterPaths = Object.values(adapters).map(main)
/** Pure decisions: the shared ones of `domain`, and those of one capability in its `rules`. */
const rules = '^src-main/(?:domain|[^/]+/rules)/'
const anyFolder = '^src-(main|shared|renderer)/'

/** Files in `from` import nothing of the project's own but `may` (and themselves); of `types`, types only. */
function only(name, from, may, comment, types = [], apart = []) {
  const allowed = [from, ...may]
  const rules = [
    {
      name,
      severity: 'error',
      comment,
      from: { path: from, ...(apart.length > 0 && { pathNot: apart }) },
      to: { path: anyFolder, pathNot: [...allowed, ...types] },
    },
  ]
  if (types.length > 0) {
    rules.push({
      name: `${name}-types`,
      severity: 'error',
      comment: `${comment} From there only types: write \`import type\`, and take the object as an argument.`,
      from: { path: from },
      to: { path: types, pathNot: allowed, dependencyTypesNot: ['type-only'] },
    })
  }
  return rules
}

/** `modules` (npm or Node) may be loaded below `owners` only. */
function owned(name, modules, owners, comment) {
  return {
    name: `owner-${name}`,
    severity: 'error',
    comment,
    from: { path: anyFolder, pathNot: owners },
    to: { path: `(^|node_modules/)(${modules.join('|')})(/|$)`, dependencyTypesNot: ['type-only'] },
  }
}

const basics = [shared.contract, shared.lang, main('platform')]

const sharedRules = [
  ...only('lang-imports-nothing', shared.lang, [], 'Language gaps only: move what needs more to where it is used.'),
  ...only(
    'contract',
    shared.contract,
    [shared.lang],
    'The contract is shapes; put the behaviour into domain or client.',
  ),
  ...only(
    'client',
    shared.client,
    [shared.contract, shared.lang],
    'A client knows the contract, nothing of either side.',
  ),
]

/** A capability may import domain, ports, the basics and the capabilities named; adapters below it are apart. */
function capability(folder, below, comment) {
  const apart = adapterPaths.filter((path) => path.startsWith(main(folder)))
  const shared = [rules, main('ports'), ...below.map(main), ...basics]
  return only(folder, main(folder), shared, comment, [], apart)
}

const mainRules = [
  ...only(
    'domain',
    rules,
    [shared.contract, shared.lang],
    'Pure decisions: let the engine gather the facts and pass them in.',
  ),
  ...only(
    'platform',
    main('platform'),
    [shared.lang],
    'Tools without product knowledge: move what knows the product to its folder.',
  ),
  ...only(
    'ports',
    main('ports'),
    [rules, ...basics],
    'Interfaces only: what they need of others is a shape of the contract.',
  ),
  ...Object.entries(capabilities).flatMap(([folder, below]) =>
    capability(folder, below, 'Look at ADR 9: move what both need into a folder below, or take it as an argument.'),
  ),
  ...capability('engine', Object.keys(capabilities), 'Say what is needed in ports and let an adapter implement it.'),
  {
    name: 'capabilities-without-adapters',
    severity: 'error',
    comment: 'Adapters are built by compose.ts and used through their port.',
    from: { path: everyCapability.map(main), pathNot: adapterPaths },
    to: { path: adapterPaths },
  },
  ...Object.entries(adapters).flatMap(([name, folder]) =>
    only(
      name,
      main(folder),
      [rules, main('ports'), ...basics],
      'Adapters know the ports they implement, not each other or a capability: take what you need as an argument from compose.ts.',
    ),
  ),
  ...only(
    'places',
    main('places'),
    [...adapterPaths, main('jobs'), main('ports'), ...basics],
    'A place puts adapters together; what it does itself belongs to one of them.',
  ),
  ...only(
    'runner',
    main('runner'),
    [...adapterPaths, main('ports'), ...basics],
    'It is a program of its own on another machine: it has adapters and the contract of jobs, no service.',
  ),
  ...only('api', main('api'), [rules, ...basics], 'Ask the engine through what compose.ts hands in.', [
    main('ports'),
    ...everyCapability.map(main),
  ]),
  ...only('server', main('server'), basics, 'A door calls api only: add an operation to the contract.', [
    main('api'),
    rules,
  ]),
  ...only('desktop', main('desktop'), basics, 'A door calls api only: add an operation to the contract.', [
    main('api'),
    rules,
  ]),
  ...only('cli', main('cli'), [shared.client, ...basics], 'The CLI is a client of the API like any other.'),
  ...only(
    'service',
    main('service'),
    ['^src-main/compose[.]ts$', shared.contract, shared.lang, main('platform')],
    'It starts and stops the app; it does not look inside.',
  ),
  {
    name: 'compose',
    severity: 'error',
    comment:
      'The one object graph serves the desktop, the service and the tests alike: doors of one carrier are built by its entry.',
    from: { path: '^src-main/(compose|create-elsewhere)[.]ts$' },
    to: { path: [main('desktop'), main('cli'), main('service'), '^src-renderer/'] },
  },
  {
    name: 'compose-without-electron',
    severity: 'error',
    comment: 'The graph must run headless: keep electron in desktop and the entries.',
    from: { path: '^src-main/(compose|headless|cli)[.]ts$' },
    to: { path: '(^|node_modules/)electron(/|$)', reachable: true },
  },
  {
    name: 'entries-are-leaves',
    severity: 'error',
    comment: 'Entries start things as soon as they are loaded: move what you need into a folder.',
    from: {},
    to: { path: '^src-main/(electron|headless|cli|preload|runner|syntax-worker)[.]ts$' },
  },
]

const ui = (folder) => `^src-renderer/${folder}/`
/** Pure functions: what the app works out of the contract's shapes, and how it says things to people. */
const plain = '^src-renderer/(model|formatters)/'
const looks = [ui('components'), ui('composables'), '^src-renderer/styles/', plain, shared.contract, shared.lang]

const rendererRules = [
  {
    name: 'renderer-without-main',
    severity: 'error',
    comment: 'The window may be a web page: it asks through the client and its operations.',
    from: { path: '^src-renderer/' },
    to: { path: ['^src-main/', 'node:'] },
  },
  ...only(
    'renderer-api',
    ui('api'),
    [shared.client, shared.contract, shared.lang],
    'It only picks and resumes the transport.',
  ),
  ...only(
    'renderer-stores',
    ui('stores'),
    [ui('api'), plain, shared.client, shared.contract, shared.lang],
    'State knows no components.',
  ),
  ...only(
    'renderer-components',
    ui('components'),
    looks,
    'Components get data by props; a screen binds them to a store.',
  ),
  ...only(
    'renderer-composables',
    ui('composables'),
    [plain, shared.contract, shared.lang],
    'Composables are below components.',
  ),
  ...only(
    'renderer-plain',
    plain,
    [shared.contract, shared.lang],
    'Pure functions of shapes and words: what has state is a store or a composable.',
  ),
  {
    name: 'renderer-features-apart',
    severity: 'error',
    comment: 'Screens do not know each other: share through stores, components or the hash.',
    from: { path: '^src-renderer/features/([^/]+)/' },
    to: { path: '^src-renderer/features/', pathNot: '^src-renderer/features/$1/' },
  },
  {
    name: 'renderer-features',
    severity: 'error',
    comment: 'A screen talks to stores, not to the API.',
    from: { path: '^src-renderer/features/' },
    to: { path: ['^src-renderer/api/', '^src-shared/client/'], dependencyTypesNot: ['type-only'] },
  },
]

const owners = [
  owned(
    'sqlite',
    ['better-sqlite3', 'drizzle-orm'],
    ['^src-main/store/'],
    'Write a query in store/<table>.ts and call it through a port.',
  ),
  owned(
    'fastify',
    ['fastify', '@fastify', '@modelcontextprotocol'],
    ['^src-main/server/'],
    'HTTP and MCP belong to server.',
  ),
  owned(
    'pty',
    ['node-pty', '@lydell/node-pty', '@agentclientprotocol'],
    ['^src-main/agents/'],
    'Agents are run by agents.',
  ),
  owned(
    'containment',
    ['@anthropic-ai/sandbox-runtime'],
    ['^src-main/containment/'],
    'Runs are contained by containment.',
  ),
  owned('git', ['simple-git'], ['^src-main/git/'], 'Git is run by git/commands/run-git.ts.'),
  owned('grammars', ['web-tree-sitter'], ['^src-main/chapters/syntax/'], 'Syntax is read by chapters/syntax.'),
  owned(
    'secrets',
    ['bcrypt', 'jose', '@zxcvbn-ts/language-common'],
    ['^src-main/identity/'],
    'Passwords and tokens belong to identity.',
  ),
  owned('log', ['pino'], ['^src-main/platform/'], 'Take a Log (platform/logging/log.ts) as an argument.'),
  owned(
    'electron',
    ['electron'],
    ['^src-main/desktop/', '^src-main/(electron|preload)[.]ts$'],
    'Only the desktop door knows the window.',
  ),
  owned('commander', ['commander'], ['^src-main/cli/', '^src-main/cli[.]ts$'], 'Command lines belong to cli.'),
  owned('vue', ['vue', '@vue', '@vueuse', 'pinia', 'reka-ui'], ['^src-renderer/'], 'Pixels belong to the renderer.'),
  owned(
    'processes',
    ['child_process'],
    [
      main('platform'),
      main('agents'),
      main('hooks/scripts'),
      main('git'),
      main('service'),
      main('containment'),
      main('runner'),
    ],
    'Start a program through platform/process/process.ts.',
  ),
]

const purity = [
  {
    name: 'no-node-in-pure-folders',
    severity: 'error',
    comment: 'Pure folders run anywhere: hand the result of the I/O in.',
    from: {
      path: ['^src-shared/', rules, main('ports'), ...everyCapability.map(main), main('api'), '^src-renderer/'],
      pathNot: adapterPaths,
    },
    // `path` only computes.
    to: { dependencyTypes: ['core'], pathNot: '^(node:)?path(/posix)?$' },
  },
  {
    name: 'no-circular',
    severity: 'error',
    comment: 'Move what both need into a third file below them.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'not-to-test',
    severity: 'error',
    comment: 'The program does not know its tests.',
    from: { path: anyFolder },
    to: { path: '^test/' },
  },
  {
    name: 'not-to-unresolvable',
    severity: 'error',
    comment: 'The file or package is not there; a package must stand in package.json.',
    from: {},
    to: { couldNotResolve: true, pathNot: '^(node|virtual):' },
  },
  {
    name: 'main-from-dependencies',
    severity: 'error',
    comment: 'What the main process loads at run time is packaged from "dependencies": move it there.',
    from: { path: '^src-main/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '(^|node_modules/)electron(/|$)' },
  },
]

export default {
  forbidden: [...sharedRules, ...mainRules, ...rendererRules, ...owners, ...purity],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.vue', '.js', '.mjs', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
    detectProcessBuiltinModuleCalls: true,
  },
}
