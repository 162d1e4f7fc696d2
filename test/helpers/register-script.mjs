// Registers somebody at the address of the first argument, as the user of the third, and prints the status and the code
// that came back. It becomes that user by itself: the Node that runs it need not be theirs to read.
const [url, name, uid] = process.argv.slice(2)
if (uid !== undefined) {
  process.setgid(Number(uid))
  process.setuid(Number(uid))
}
const body = JSON.stringify({ email: `${name}@copse.test`, password: 'correct horse', display_name: name })
const headers = { 'content-type': 'application/json' }
const response = await fetch(`${url}/api/v1/auth/register`, { method: 'POST', headers, body })
const answer = await response.json()
console.log([response.status, answer.error?.code].filter(Boolean).join(' '))
