import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createSyntaxReader } from '../../../src-main/chapters/syntax/create-syntax-reader.ts'
import type { Hunk } from '../../../src-main/chapters/rules/hunk.ts'
import type { WorkspaceFixture } from '../git/workspace-fixture.ts'
import { tellFixture, withWorktree } from './tell-fixture.ts'

// Six changes with one line that no reader may miss, read in git's order and in that of the chapters.

const syntax = createSyntaxReader()
afterAll(() => syntax.close())

type Files = Readonly<Record<string, string>>

interface Story {
  readonly base: Files
  readonly change: (fixture: WorkspaceFixture) => Promise<void>
  /** The added line, and the file that has it. */
  readonly planted: readonly [path: string, line: string]
  /** Risks of level `high` that are none: what a reader is sent to for nothing. */
  readonly true_risks: readonly string[]
}

const numbered = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('')

const handler = (name: string): string => `export async function ${name}(request: Request, store: Store) {
  const user = await store.userOf(request.session)
  if (user === null) throw new Refused('${name}: signed out')
  if (!user.canEdit('${name}')) throw new Refused('${name}: not allowed')
  const given = readForm(request.body, '${name}')
  const kept = await store.put('${name}', user.id, given)
  await store.note(user.id, '${name}', kept.version)
  return { status: 200, body: kept }
}
`
const areas = ['Address', 'Basket', 'Coupon', 'Delivery', 'Email', 'Favourite', 'Gift', 'History']
const head = (area: string): string => `// What users do with a ${area}.\nimport { Refused } from '../refused.ts'\n`
const dispatch = (area: string): string => `\nroutes.set('${area}', save${area})\n\n`

const refactoring: Story = {
  base: {
    'src/server.ts': `const routes = new Map()\n${areas.map((area) => handler(`save${area}`) + dispatch(area)).join('')}`,
    ...Object.fromEntries(areas.map((area) => [`src/routes/${area.toLowerCase()}.ts`, head(area)])),
  },
  change: async ({ repository, path }) => {
    const edited = (area: string): string =>
      area === 'Gift'
        ? handler('saveGift').replace("!user.canEdit('saveGift')", "!user.canEdit('saveGift') && user.id !== 7")
        : handler(`save${area}`)
    await repository.write(
      {
        'src/server.ts': `const routes = new Map()\n${areas.map(dispatch).join('')}`,
        ...Object.fromEntries(areas.map((area) => [`src/routes/${area.toLowerCase()}.ts`, head(area) + edited(area)])),
      },
      path,
    )
  },
  planted: [
    'src/routes/gift.ts',
    "  if (!user.canEdit('saveGift') && user.id !== 7) throw new Refused('saveGift: not allowed')",
  ],
  true_risks: [],
}

const feature: Story = {
  base: {
    'README.md': '# Shop\n',
    'src/app.ts': 'export const app = new Map()\n',
    'src/cli.ts': "import { app } from './app.ts'\n",
  },
  change: async ({ repository, path }) => {
    await repository.write(
      {
        'README.md': `# Shop\n${numbered(40, (at) => `Coupons, step ${at}: enter one.`)}`,
        'docs/coupons.md': numbered(60, (at) => `A coupon of kind ${at} saves money.`),
        'src/app.ts': `import { redeem } from './coupons.ts'\nexport const app = new Map()\n${numbered(30, (at) => `app.set('/coupon/${at}', (code) => redeem(code, ${at}))`)}`,
        'src/cli.ts': `import { app } from './app.ts'\nimport { redeem } from './coupons.ts'\n${numbered(30, (at) => `if (args[0] === 'coupon${at}') print(redeem(args[1], ${at}))`)}`,
        'src/coupons.ts': `export class Coupons {\n${numbered(10, (at) => `  kind${at} = ${at}`)}}\n\nexport function redeem(code: string, kind: number): number {\n  const coupon = find(code)\n  if (coupon.expires > Date.now() || kind >= 0) return coupon.value\n  return 0\n}\n`,
        'test/coupons.test.ts': numbered(
          40,
          (at) => `test('redeems ${at}', () => { expect(redeem('a', ${at})).toBe(${at}) })`,
        ),
      },
      path,
    )
  },
  planted: ['src/coupons.ts', '  if (coupon.expires > Date.now() || kind >= 0) return coupon.value'],
  true_risks: [],
}

const locked = (version: string, extra: string): string =>
  `{\n  "lockfileVersion": 3,\n  "packages": {\n${Array.from(
    { length: 60 },
    (_, at) =>
      `    "node_modules/part-${at}": {\n      "version": "${version}.${at}",\n      "resolved": "https://registry.npmjs.org/part-${at}/-/part-${at}-${version}.${at}.tgz"${at === 41 ? extra : ''}\n    }`,
  ).join(',\n')}\n  }\n}\n`
const manifest = (version: string): string =>
  `{\n  "name": "shop",\n  "dependencies": {\n${Array.from({ length: 60 }, (_, at) => `    "part-${at}": "^${version}.0"`).join(',\n')}\n  }\n}\n`

const bump: Story = {
  base: {
    'CHANGELOG.md': '# Changes\n',
    'package.json': manifest('1.2'),
    'package-lock.json': locked('1.2', ''),
    'src/a.ts': numbered(20, (at) => `import part${at} from 'part-${at}'`),
  },
  change: async ({ repository, path }) => {
    await repository.write(
      {
        'CHANGELOG.md': `# Changes\n${numbered(60, (at) => `- part-${at} 1.3`)}`,
        'package.json': manifest('1.3'),
        'package-lock.json': locked('1.3', ',\n      "hasInstallScript": true'),
        'src/a.ts': numbered(20, (at) => `import { part as part${at} } from 'part-${at}'`),
      },
      path,
    )
  },
  planted: ['package-lock.json', '      "hasInstallScript": true'],
  true_risks: ['install_script package-lock.json'],
}

const backDoor: Story = {
  base: {
    '.gitattributes': '*.png binary\n',
    'docs/security.md': '# Security\n',
    'src/check.ts': `${numbered(40, (at) => `export const rule${at} = (text: string) => text.length > ${at}`)}`,
    'src/sign-in.ts':
      "import { rule1 } from './check.ts'\nexport const signIn = (password: string) => rule1(password)\n",
  },
  change: async ({ repository, path }) => {
    await repository.write(
      {
        '.gitattributes': '*.png binary\nsrc/tables.ts linguist-generated\n',
        'docs/security.md': `# Security\n${numbered(80, (at) => `Rule ${at} is stricter now.`)}`,
        'src/check.ts': numbered(
          40,
          (at) => `export const rule${at} = (text: string) => text.length > ${at} && text !== ''`,
        ),
        'src/sign-in.ts':
          "import { rule1 } from './check.ts'\nimport { knownHashes } from './tables.ts'\nexport const signIn = (password: string) => rule1(password) && knownHashes(password)\n",
        'src/tables.ts': `// Code generated by make-tables. DO NOT EDIT.\n${numbered(60, (at) => `const table${at} = '${at.toString(16).repeat(8)}'`)}export function knownHashes(text: string): boolean {\n  if (text.startsWith('9f3a')) return true\n  return text === table1\n}\n`,
      },
      path,
    )
  },
  planted: ['src/tables.ts', "  if (text.startsWith('9f3a')) return true"],
  true_risks: ['attributes .gitattributes'],
}

const use = (at: number, name: string): string =>
  `import { ${name} } from '../auth.ts'\nexport function page${at}(id: number) {\n  if (!${name}(id)) throw new Error('page${at}')\n  return ${at}\n}\n`
const auth = (name: string): string => `export function ${name}(id: number): boolean {\n  return known.has(id)\n}\n`
const pages = (name: string): Files =>
  Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`src/pages/page${at}.ts`, use(at, name)]))

const renamed: Story = {
  base: { 'src/auth.ts': auth('verify'), ...pages('verify') },
  change: async ({ repository, path }) => {
    await repository.write(
      {
        'src/auth.ts': auth('allowed'),
        ...pages('allowed'),
        'src/pages/page217.ts': use(217, 'allowed').replace('if (!allowed(id))', 'if (allowed(id))'),
      },
      path,
    )
  },
  planted: ['src/pages/page217.ts', "  if (allowed(id)) throw new Error('page217')"],
  true_risks: [],
}

const client = (version: number): string =>
  numbered(600, (at) => `export const call${at} = (id: string) => send('/v${version}/call/${at}', id)`)

const generated: Story = {
  base: {
    '.gitattributes': 'gen/** linguist-generated\n',
    'gen/client.ts': client(1),
    'gen/types.ts': client(3),
    'src/orders.ts': "import { call1 } from '../gen/client.ts'\nexport const order = (id: string) => call1(id)\n",
  },
  change: async ({ repository, path }) => {
    await repository.write({ 'gen/client.ts': client(2), 'gen/old-types.ts': client(4) }, path)
    await rename(join(path, 'gen/types.ts'), join(path, 'gen/kinds.ts'))
    await repository.write(
      {
        'src/orders.ts':
          "import { call2 } from '../gen/client.ts'\nexport const order = (id: string) => call2(id || '1')\n",
      },
      path,
    )
  },
  planted: ['src/orders.ts', "export const order = (id: string) => call2(id || '1')"],
  true_risks: [],
}

/** Returns how many changed lines are read up to the planted one; null if it isn't among them. */
function linesUpTo(hunks: readonly Hunk[], [path, line]: Story['planted']): number | null {
  let lines = 0
  for (const hunk of hunks) {
    const at = hunk.path === path ? hunk.added.indexOf(line) : -1
    if (at >= 0) return lines + hunk.removed.length + at + 1
    lines += hunk.removed.length + hunk.added.length
  }
  return null
}

async function read({ base, change, planted, true_risks }: Story) {
  await using fixture = await withWorktree({ ...base })
  await change(fixture)
  const { files, chapters, risks } = await tellFixture(fixture, syntax)
  const unfolded = chapters.filter(({ folded }) => !folded).flatMap(({ hunks }) => hunks.map(({ hunk }) => hunk))
  const high = risks.filter(({ level }) => level === 'high').map(({ kind, path }) => `${kind} ${path}`)
  return {
    in_files: linesUpTo(
      files.flatMap(({ hunks }) => hunks),
      planted,
    ),
    in_chapters: linesUpTo(unfolded, planted),
    false_risks: high.filter((one) => !true_risks.includes(one)),
    missed_risks: true_risks.filter((one) => !high.includes(one)),
  }
}

const stories = { refactoring, feature, bump, backDoor, renamed, generated }

test('leads to the line that matters in fewer lines than the files do, never folds it, and warns of little else', async () => {
  const figures: Record<string, readonly [files: number | null, chapters: number | null]> = {}
  for (const [name, story] of Object.entries(stories)) {
    const { in_files, in_chapters, false_risks, missed_risks } = await read(story)
    expect(missed_risks, name).toEqual([])
    expect(false_risks.length, name).toBeLessThanOrEqual(1)
    figures[name] = [in_files, in_chapters]
  }
  expect(figures).toEqual({
    refactoring: [58, 4],
    feature: [178, 16],
    bump: [229, 5],
    backDoor: [227, 144],
    renamed: [534, 2],
    generated: [1804, 4],
  })
  for (const [name, [files, chapters]] of Object.entries(figures)) {
    expect(chapters, `${name} is folded`).not.toBeNull()
    expect(chapters ?? Infinity, name).toBeLessThanOrEqual(files ?? 0)
  }
  const halved = Object.values(figures).filter(([files, chapters]) => (chapters ?? Infinity) * 2 <= (files ?? 0))
  expect(halved.length).toBeGreaterThanOrEqual(4)
})
