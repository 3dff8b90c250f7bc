#!/usr/bin/env node
// Says what is missing in one sentence before anything is loaded that an older Node cannot read.
import { existsSync } from 'node:fs'

const least = [20, 19]
const [major, minor] = process.versions.node.split('.').map(Number)
const program = new URL('../dist/cli/main.js', import.meta.url)

function refuse(sentence) {
  process.stderr.write(`openearn: ${sentence}\n`)
  process.exit(2)
}

if (major < least[0] || (major === least[0] && minor < least[1]))
  refuse(`this is Node.js ${process.versions.node}; OpenEarn needs ${least.join('.')} or later`)
if (!existsSync(program)) refuse('the program is not built; run `npm run build` first')
await import(program.href)
