/** Programs that carry other machines' or other users' connections, by their names as Linux cuts them. */
const names = new Set([
  ...['ssh', 'sshd', 'sshd-session', 'sshd-auth', 'dropbear', 'dbclient'],
  ...['socat', 'ncat', 'rinetd', 'stunnel', 'stunnel4', 'chisel', 'frpc', 'ngrok', 'cloudflared', 'tailscaled'],
])

/** Returns whether a program speaks for the program at its other end. */
export const isRelayProgram = (name: string): boolean => names.has(name)
