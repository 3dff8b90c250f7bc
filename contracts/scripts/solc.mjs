#!/usr/bin/env node
// The npm compiler behind the command line that forge expects: `--version`, and standard JSON from stdin to stdout.
import { readFileSync } from 'node:fs'
import solc from 'solc'

const args = process.argv.slice(2)
if (args.includes('--version')) {
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version().replace('clang', 'g++')}`)
} else if (args.includes('--standard-json')) {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
} else {
  console.error('only --version and --standard-json are known here')
  process.exit(2)
}
