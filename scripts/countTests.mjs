// Prints "N passed, N failed" from a Vitest JSON report. A run that failed before or outside a test counts as one
// failure, so that nothing red can look green.
import { readFileSync } from 'node:fs'

const [report, status] = process.argv.slice(2)
let passed = 0
let failed = 0
try {
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'))
  passed = numPassedTests
  failed = numFailedTests
} catch (error) {
  console.error(`no test report: ${error.message}`)
}
if (status !== '0' && failed === 0) failed = 1
console.log(`${passed} passed, ${failed} failed`)
