#!/usr/bin/env node
// Says what is missing in one sentence before anything is loaded that an older Node cannot read.
import { existsSync } from 'node:fs'

const least = [20, 19]
const [major, minor] = process.versions.node.split('.').map(Number)
// In one piece, which Node opens faster, where the whole build ran; else as the compiler leaves it.
const places = ['../dist/program/main.js', '../dist/cli/main.js'].map((path) => new URL(path, import.meta.url))
const program = places.find((place) => existsSync(place))

function refuse(sentence) {
  process.stderr.write(`openearn: ${sentence}\n`)
  process.exit(2)
}

if (major < least[0] || (major === least[0] && minor < least[1]))
  refuse(`this is Node.js ${process.versions.node}; OpenEarn needs ${least.join('.')} or later`)
if (!program) refuse('the program is not built; run `npm run build` first')
await import(program.href)
