import { isSource } from '../file-kinds.ts'
import { addedLines, riskOfHunks, type RiskRule } from './risk.ts'

const ciFile =
  /^\.github\/(?:workflows|actions)\/|^\.gitlab-ci\.ya?ml$|^\.gitlab\/ci\/|^\.circleci\/|^azure-pipelines[\w.-]*\.ya?ml$|^bitbucket-pipelines\.yml$|^\.drone\.ya?ml$|^\.woodpecker(?:\/|\.ya?ml$)|^\.buildkite\/|^\.forgejo\/workflows\/|^\.gitea\/workflows\/|(?:^|\/)Jenkinsfile$|(?:^|\/)\.travis\.yml$/

/** Files that run on other machines, often with secrets. */
export const ci: RiskRule = (file) =>
  ciFile.test(file.path) ? riskOfHunks(file, 'high', 'It changes what CI runs, which may have secrets.') : []

const agentFile =
  /(?:^|\/)(?:AGENTS|CLAUDE|GEMINI|QWEN)(?:\.[\w-]+)?\.md$|(?:^|\/)(?:\.mcp\.json|\.cursorrules|\.windsurfrules|\.clinerules)$|(?:^|\/)\.(?:claude|codex|gemini|qwen|opencode|cursor|windsurf|copse)\/|^\.github\/(?:copilot-instructions\.md$|instructions\/|prompts\/)|(?:^|\/)opencode\.jsonc?$/

/** Files that tell agents what to do, or what they may do. */
export const agentFiles: RiskRule = (file) =>
  agentFile.test(file.path) ? riskOfHunks(file, 'high', 'It changes what agents are told or allowed.') : []

const attributesFile = /(?:^|\/)(?:\.gitattributes|\.gitmodules|\.mailmap|\.git-blame-ignore-revs)$/

/** Files that decide what git shows and runs. */
export const attributes: RiskRule = (file) => {
  if (!attributesFile.test(file.path)) return []
  const hides = /linguist-(?:generated|vendored)|-diff|\bbinary\b|\b(?:filter|diff|merge)=|\burl\s*=/
  return file.hunks.map((hunk) => ({
    level: hunk.added.some((line) => hides.test(line)) ? 'high' : 'low',
    text: 'It changes how git shows, merges or fetches files.',
    line: hunk.new[1] > 0 ? hunk.new[0] : null,
    hunk,
  }))
}

const migrationFile =
  /(?:^|\/)(?:migrations?|migrate|alembic\/versions|flyway|liquibase)\/.*\.(?:sql|py|rb|[cm]?[jt]s|php|xml|ya?ml|go|cs|java)$|(?:^|\/)V\d[\w.]*__.*\.sql$/i
const loses =
  /\b(?:drop\s+(?:table|column|database|schema)|truncate\s+table|delete\s+from(?![^;]*\bwhere\b)|drop_(?:table|column)|remove_column|dropTable|dropColumn)\b/i

/** Changes of a database that can't be undone by going back to the commit before. */
export const migration: RiskRule = (file) => {
  if (!migrationFile.test(file.path) || !isSource(file.path)) return []
  const found = addedLines(file).filter(({ text }) => loses.test(text))
  if (found.length > 0)
    return found.map(({ line, hunk }) => ({ level: 'high', text: 'The migration removes data.', line, hunk }))
  return file.status === 'deleted'
    ? riskOfHunks(file, 'high', 'A migration that databases may have run is gone.')
    : riskOfHunks(file, 'low', 'It changes a database when it is released.').slice(0, 1)
}

/** Files that the system may run. */
export const executable: RiskRule = (file) => {
  if (file.new_mode !== '100755' || file.old_mode === '100755') return []
  const mode = file.hunks.find(({ cause }) => cause === 'mode') ?? file.hunks[0]
  if (!mode) return []
  const isBinary = file.hunks.some(({ cause }) => cause === 'binary')
  const text = isBinary ? 'It is a program that can’t be read here.' : 'The file can be run as a program now.'
  return [{ level: isBinary ? 'high' : 'low', text, line: null, hunk: mode }]
}

const media = /\.(?:png|jpe?g|gif|webp|avif|ico|icns|bmp|svgz?|woff2?|ttf|otf|eot|mp[34]|webm|mov|ogg|wav|pdf)$/i
const program =
  /\.(?:exe|dll|so|dylib|node|wasm|jar|class|pyc|o|a|lib|bin|apk|deb|rpm|msi|zip|tgz|gz|bz2|xz|7z|rar|whl|nupkg)$/i

/** Content that no diff shows. */
export const binary: RiskRule = (file) => {
  const found = file.hunks.filter(({ cause }) => cause === 'binary')
  if (found.length === 0 || file.status === 'deleted' || media.test(file.path)) return []
  const isHidden = isSource(file.path)
  const text = isHidden
    ? 'It is named like text but can’t be shown as text.'
    : program.test(file.path)
      ? 'It is or contains programs, and can’t be read here.'
      : 'It is not text, so its content can’t be read here.'
  return found.map((hunk) => ({ level: isHidden || program.test(file.path) ? 'high' : 'low', text, line: null, hunk }))
}

/** Content that is too large to be shown. */
export const large: RiskRule = (file) =>
  file.status === 'deleted'
    ? []
    : file.hunks
        .filter(({ cause }) => cause === 'large')
        .map((hunk) => ({ level: 'low', text: 'It is too large to be shown.', line: null, hunk }))
