// Runs openearn as its words say; what would go on is stopped once it is ready, and ends as it does then.
import { spawn } from 'node:child_process'

const [program, ...words] = process.argv.slice(2)
const stays = ['start', 'serve', 'watch', 'jobs', 'commit', 'solve'].includes(words[0] ?? '')
const child = spawn(process.execPath, [program, ...words], {
  stdio: ['inherit', stays ? 'pipe' : 'inherit', 'inherit'],
})
let said = ''
let asked = false
child.stdout?.on('data', (chunk) => {
  process.stdout.write(chunk)
  said += chunk
  if (asked || !/^ready|^\{.*"ready":true/m.test(said)) return
  asked = child.kill('SIGTERM')
})
child.once('close', (code) => {
  process.exitCode = code ?? 1
})
