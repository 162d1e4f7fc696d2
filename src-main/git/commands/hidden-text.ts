import type { RawChange } from './raw-changes.ts'

/** Names of files that people and programs read as text. */
const sourceName =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|go|rs|java|kts?|scala|swift|[ch](?:pp|xx|c|h)?|mm?|cs|fs|php|pl|pm|r|jl|lua|ex|exs|erl|hs|clj|dart|sh|bash|zsh|fish|ps1|bat|cmd|sql|html?|css|scss|less|xml|svg|json5?|ya?ml|toml|ini|cfg|conf|env|tf|proto|graphql|gradle|cmake|mk|md|rst|tex|txt|csv)$|(?:^|\/)(?:Makefile|Dockerfile|Jenkinsfile|Rakefile|Gemfile|\.[a-z]+rc|\.gitattributes|\.gitignore)$/i

type Changed = Pick<RawChange, 'path' | 'new_mode' | 'old_blob' | 'new_blob'> & { readonly binary: boolean }

/**
 * Returns the paths of changes that a diff can't show although a reader would expect it: a file that was text, that
 * has the name of a source file, or that can be executed, and whose content is binary now.
 */
export function findHiddenText(changes: readonly Changed[], text: ReadonlySet<string>): readonly string[] {
  const isHidden = ({ path, new_mode, old_blob, new_blob, binary }: Changed): boolean => {
    if (!binary || new_blob === null || text.has(new_blob)) return false
    const wasText = old_blob !== null && text.has(old_blob)
    return wasText || new_mode === '100755' || sourceName.test(path)
  }
  return changes.filter(isHidden).map(({ path }) => path)
}
