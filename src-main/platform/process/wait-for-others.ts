/**
 * Returns a shell script that runs its arguments as a program and exits as that does. Where its end ends all other
 * processes too, a request to end may find some that still save, so it waits for them until they are killed from
 * outside, 20 s at most. `own`: the number of processes there that belong to no program, or the shell's variable that has it; `atEnd` is run first.
 */
export const waitingScript = (own: number | '$own', atEnd = ':'): string => `trap 'asked=1' HUP INT TERM
"$@"
code=$?
${atEnd}
others() { set -- /proc/[0-9]*; [ $# -gt ${own} ]; }
tries=0
while [ -n "$asked" ] && [ $tries -lt 400 ] && others; do tries=$((tries + 1)); sleep 0.05; done
exit $code`
