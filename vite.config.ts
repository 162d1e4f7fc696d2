import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin, type UserConfig } from 'vite'
import type { ViteUserConfig } from 'vitest/config'

/**
 * What the main process loads from node_modules at run time: native modules, and what looks for files of its own or is
 * no more than a few. Everything else is bundled, since to find and read its hundreds of files takes half of a start.
 */
const external = [
  /^(node:|electron$)/,
  /^(@anthropic-ai\/sandbox-runtime|@fastify\/static|bcrypt|better-sqlite3|electron-updater|fastify|node-pty|pino|simple-git|web-tree-sitter)(\/|$)/,
]

const routes = new URL('src-shared/client/routes.ts', import.meta.url)
/**
 * What that module exports is plain data, made of the whole contract: the page and the commands get it worked out. The
 * schemas are then no part of what they load before they show anything.
 */
const workedOutRoutes: Plugin = {
  name: 'worked-out-routes',
  applyToEnvironment: ({ name }) => name === 'client' || name === 'main',
  load: {
    filter: { id: /\/src-shared\/client\/routes\.ts$/ },
    handler: async () =>
      Object.entries((await import(routes.href)) as Readonly<Record<string, unknown>>)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
        .join('\n'),
  },
}

/** Whether the build is for `npm test -- --map`. */
const mapped = process.env['COPSE_REACH'] !== undefined

/** The page's connection is on its way as soon as it is there, whatever else has to come. */
const earlyConnection: Plugin = {
  name: 'early-connection',
  applyToEnvironment: ({ name }) => name === 'client',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.values(bundle)
        .filter(({ type, name }) => type === 'chunk' && name === 'connection')
        .map(({ fileName }) => ({
          tag: 'script',
          attrs: { type: 'module', async: true, crossorigin: true, src: `./${fileName}` },
          injectTo: 'head' as const,
        })),
  },
}

/**
 * The styles of the first screen come within the page, which is painted as soon as it is there. Their name stays, for
 * the link by which `inlined-styles.ts` tells that they are there.
 */
const inlineStyles: Plugin = {
  name: 'inline-styles',
  applyToEnvironment: ({ name }) => name === 'client',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle = {} }) =>
      html.replace(/<link rel="stylesheet"[^>]* href="\.\/(([^"]*\/)[^"]+)">/, (_, fileName, folder) => {
        const file = bundle[String(fileName)]
        if (file?.type !== 'asset') throw new Error(`${String(fileName)} is not in the bundle.`)
        const styles = String(file.source).replaceAll('url(./', `url(./${String(folder)}`)
        return `<meta name="inlined-styles" content="./${String(fileName)}">\n    <style>${styles}</style>`
      }),
  },
}

/**
 * The service sends these as they are. Higher levels make them 2 % smaller and the build some seconds longer.
 */
const compressors = {
  br: (source: string | Uint8Array) =>
    promisify(brotliCompress)(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gz: (source: string | Uint8Array) => promisify(gzip)(source, { level: 6 }),
}

const precompressed: Plugin = {
  name: 'precompressed',
  applyToEnvironment: ({ name }) => name === 'client',
  writeBundle: async ({ dir = '' }, bundle) => {
    const texts = Object.values(bundle).filter(({ fileName }) => /\.(js|css|html|svg)$/.test(fileName))
    await Promise.all(
      texts.flatMap((file) =>
        Object.entries(compressors).map(async ([ending, compress]) => {
          const compressed = await compress(file.type === 'chunk' ? file.code : file.source)
          await writeFile(join(dir, `${file.fileName}.${ending}`), compressed)
        }),
      ),
    )
  },
}

/** For the build alone: Vitest would take it for its own, and transform every library that a test loads. */
const bundledLibraries: Plugin = {
  name: 'bundled-libraries',
  apply: 'build',
  configEnvironment: (name) => (name === 'main' || name === 'runner' ? { resolve: { noExternal: true } } : null),
}

/** What a board loads once it is drawn, so that it is there at the first press. */
const atHand = /\/(BoardDialogs|ChainLine|LandingMenu|PauseSwitch|ViewsMenu|NewTaskDialog|PaletteDialog)\.vue$/

// The workers of the tests, which start thousands of programs; quick-fork.c takes it out of their environment again.
const quickFork = process.env['COPSE_QUICK_FORK']
if (quickFork !== undefined && process.env['VITEST'] !== undefined) process.env['LD_PRELOAD'] = quickFork

const folders = ['model', 'integration', 'contract']

/** The modules of one file serve the next: loading them anew for each takes longer than most tests. */
const shared = { environment: 'node', isolate: false }

const test: ViteUserConfig['test'] = {
  root: '.',
  pool: 'forks',
  // Two cores, and tests that start git, servers and agents of their own.
  maxWorkers: 2,
  // `auto` means none for the services that tests start: those of containment ask for it by name.
  env: { SVC_CONTAINMENT: 'none' },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // What a test looks at again and again may take as long as the test may: a second is short on a busy machine.
  expect: { poll: { timeout: 18_000 } },
  projects: [
    {
      extends: true,
      test: {
        name: 'unit',
        include: ['test/unit/**/*.test.ts'],
        ...shared,
        setupFiles: ['test/helpers/record-reach.ts', 'test/helpers/restore-environment.ts'],
      },
    },
    {
      extends: true,
      test: {
        // In workers of its own: the linter and the import checker leave half a gigabyte behind, with which a worker
        // takes three times as long to start git.
        name: 'architecture',
        include: ['test/architecture/**/*.test.ts'],
        ...shared,
        setupFiles: ['test/helpers/record-reach.ts', 'test/helpers/restore-environment.ts'],
        testTimeout: 240_000,
      },
    },
    {
      extends: true,
      test: {
        name: 'main',
        include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
        ...shared,
        setupFiles: [
          'test/helpers/record-reach.ts',
          'test/helpers/temporary-folder-in-memory.ts',
          'test/helpers/restore-environment.ts',
          'test/helpers/small-process.ts',
        ],
        execArgv: ['--expose-gc', '--max-semi-space-size=4'],
        // Real git and real processes, several tests at once, on a machine that may be busy, or slow to start programs.
        testTimeout: 240_000,
        hookTimeout: 120_000,
        expect: { poll: { timeout: 100_000 } },
      },
    },
    {
      extends: true,
      test: {
        name: 'e2e',
        include: ['test/e2e/**/*.test.ts'],
        environment: 'node',
        globalSetup: ['test/e2e/harness/global-setup.ts'],
        setupFiles: ['test/helpers/record-reach.ts', 'test/helpers/temporary-folder-in-memory.ts'],
        // Half of its time a walk waits for what it has started, which leaves a core idle if only two are under way.
        maxWorkers: 3,
        sequence: { groupOrder: 1 },
        testTimeout: 300_000,
        hookTimeout: 300_000,
        expect: { poll: { timeout: 80_000 } },
        maxConcurrency: 2,
      },
    },
  ],
}

/** The running service, which answers its own page only. */
const service = 'http://127.0.0.1:4870'
const toService = { target: service, changeOrigin: true, headers: { origin: service } }

const config: UserConfig & Pick<ViteUserConfig, 'test'> = {
  root: 'src-renderer',
  base: './',
  plugins: [vue(), workedOutRoutes, earlyConnection, inlineStyles, precompressed, bundledLibraries],
  // Of the languages that the viewer colours, its workers are sent those that they need: they carry none themselves.
  worker: { format: 'es', rolldownOptions: { transform: { define: { __DIFFS_WORKER__: 'true' } } } },
  // Not `/api` alone: that is a folder of the renderer's too.
  server: { proxy: { '/api/v1': toService, '/healthz': toService } },
  builder: {
    buildApp: async (builder) => {
      for (const name of ['client', 'main', 'preload', 'runner']) {
        const environment = builder.environments[name]
        if (environment) await builder.build(environment)
      }
    },
  },
  environments: {
    client: {
      build: {
        outDir: '../dist/renderer',
        emptyOutDir: true,
        chunkSizeWarningLimit: 1500,
        assetsInlineLimit: 0,
        // With the names of the sources, for the map of what tests reach.
        ...(mapped && { sourcemap: true, minify: false }),
        // The first that know light-dark(), with which every colour is written down.
        cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
        rolldownOptions: {
          output: {
            // A board needs all of it: a file for each part that some other screen shares takes as many requests.
            codeSplitting: {
              groups: [
                { name: 'connection', test: /\/src-renderer\/connection\.ts$/, priority: 2 },
                { name: 'board', tags: ['$initial'], priority: 1 },
                { name: 'at-hand', test: atHand },
              ],
            },
          },
        },
      },
    },
    main: {
      consumer: 'server',
      build: {
        outDir: '../dist/main',
        emptyOutDir: true,
        copyPublicDir: false,
        target: 'node24',
        minify: false,
        sourcemap: true,
        rolldownOptions: {
          external,
          input: {
            electron: 'src-main/electron.ts',
            headless: 'src-main/headless.ts',
            cli: 'src-main/cli.ts',
            'git-helper': 'src-main/git-helper.ts',
            'syntax-worker': 'src-main/syntax-worker.ts',
          },
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: 'chunks/[name]-[hash].js',
            // Those of the libraries; what their licences ask for is in licences.txt.
            comments: false,
          },
        },
      },
    },
    // One file, which the service brings to other machines.
    runner: {
      consumer: 'server',
      build: {
        outDir: '../dist/runner',
        emptyOutDir: true,
        copyPublicDir: false,
        target: 'node24',
        minify: true,
        rolldownOptions: {
          external: [/^node:/, /^(node-pty|@microsoft\/mxc-sdk)(\/|$)/],
          input: { runner: 'src-main/runner.ts' },
          output: { format: 'es', entryFileNames: '[name].mjs', codeSplitting: false, comments: false },
        },
      },
    },
    preload: {
      consumer: 'server',
      build: {
        outDir: '../dist/main',
        emptyOutDir: false,
        copyPublicDir: false,
        rolldownOptions: {
          external: ['electron'],
          input: { preload: 'src-main/preload.ts' },
          output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
        },
      },
    },
  },
  test,
}

export default defineConfig(config)
