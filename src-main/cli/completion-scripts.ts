export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Each shell's script, which calls `svc __complete` for the candidates. */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# svc completion for bash
_svc() {
  local value about
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    COMPREPLY+=("$value")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _svc svc
`,
  zsh: `#compdef svc
# svc completion for zsh
_svc() {
  local -a found
  local value about
  while IFS=$'\\t' read -r value about; do
    found+=("\${value//:/\\\\:}:$about")
  done < <("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe svc found; else _files; fi
}
if [ "$funcstack[1]" = "_svc" ]; then _svc "$@"; else compdef _svc svc; fi
`,
  fish: `# svc completion for fish
function __svc_complete
  set -l words (commandline -opc) (commandline -ct | string collect --allow-empty)
  $words[1] __complete -- $words[2..-1] 2>/dev/null
end
complete -c svc -f -a '(__svc_complete)'
complete -c svc -n '__fish_seen_subcommand_from add' -F
`,
}
