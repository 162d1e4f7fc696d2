/** Returns the spellings of each name that has more than one, if one of them is only in `added`. */
export function findSameNames(files: readonly string[], added: readonly string[]): readonly string[] {
  const isAdded = new Set(added)
  const old = new Set(files.filter((path) => !isAdded.has(path)).flatMap(withFolders))
  const spellings = new Map<string, Set<string>>()
  for (const name of new Set([...files, ...added].flatMap(withFolders))) {
    const folded = fold(name)
    spellings.set(folded, (spellings.get(folded) ?? new Set()).add(name))
  }
  const same = [...spellings.values()].filter((names) => names.size > 1 && [...names].some((name) => !old.has(name)))
  // Names below a folder of two spellings say nothing more.
  const all = new Set(same.flatMap((names) => [...names]))
  return [...all].filter((name) => !all.has(folderOf(name))).sort()
}

function withFolders(path: string): readonly string[] {
  const names = [path]
  for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) names.push(folder)
  return names
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Upper case first, so that `ß` is `ss`; HFS+ ignores characters without width. */
const fold = (name: string): string =>
  name
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .normalize('NFD')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
