import { readFileSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import vue from 'eslint-plugin-vue'
import typescript from 'typescript'
import { parser as tsParser } from 'typescript-eslint'

const { createCompilerHost, createProgram, createSourceFile, parseJsonConfigFileContent, readConfigFile, sys } =
  typescript
const vueParser = vue.configs['flat/base'].map(({ languageOptions }) => languageOptions?.parser).find(Boolean)
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** An editor changes what it lints; a run from the command line reads everything once. */
const isOneRun = /eslint(?:\.js)?$/.test(process.argv[1] ?? '')
let program

/**
 * The parser of typescript-eslint with one program for all Vue files of a run. Its own project service takes each of
 * them for a change of the project and works out the types of everything anew: 0.6 s a file.
 */
export const parser = {
  meta: { name: 'one-program', version: '1' },
  parseForESLint(code, options) {
    // What a template holds is parsed without types.
    if (!isOneRun || !options.projectService) return tsParser.parseForESLint(code, options)
    program ??= createWholeProgram()
    // A file that was fixed meanwhile is no longer the program's.
    const isKnown = program.getSourceFile(options.filePath)?.text === code
    const its = isKnown ? { ...options, projectService: undefined, programs: [program] } : options
    return tsParser.parseForESLint(code, its)
  },
}

function createWholeProgram() {
  const path = `${root}/tsconfig.json`
  const vueFiles = { extension: '.vue', isMixedContent: true, scriptKind: typescript.ScriptKind.Deferred }
  const { config } = readConfigFile(path, sys.readFile)
  const { fileNames, options } = parseJsonConfigFileContent(config, sys, root, {}, path, undefined, [vueFiles])
  const host = createCompilerHost(options, true)
  const { getSourceFile } = host
  host.getSourceFile = (name, target, ...rest) =>
    extname(name) === '.vue'
      ? createSourceFile(name, scriptOf(name), target, true, typescript.ScriptKind.TS)
      : getSourceFile(name, target, ...rest)
  // What they import comes along.
  const rootNames = fileNames.filter((name) => /\.(vue|d\.ts)$/.test(name))
  return createProgram({ rootNames, options: { ...options, allowNonTsExtensions: true }, host })
}

/** The script of a Vue file as its parser hands it on, with every position where it stands in the file. */
function scriptOf(filePath) {
  let script = ''
  const recorder = {
    parseForESLint(code, options) {
      if (options.projectService) script = code
      return tsParser.parseForESLint(code, { ...options, projectService: undefined })
    },
  }
  const source = readFileSync(filePath, 'utf8')
  vueParser.parseForESLint(source, { filePath, parser: recorder, projectService: true, sourceType: 'module' })
  return script
}
