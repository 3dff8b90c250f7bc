// Writes llms.txt, which tells language models what is here and where: from the OpenAPI document, the commands and the documents.
// With --check it only says whether the committed file is that of today.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')

const { paths } = JSON.parse(read('service/openapi.json'))
const operations = Object.entries(paths)
  .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })))
  .map(
    ({ path, method, operationId, summary, ...more }) =>
      `- \`${method.toUpperCase()} ${path}\` ${operationId}: ${summary} (${more['x-cost'] ?? 0} units)`,
  )

const commands = [
  ...read('service/src/cli/commands.ts').matchAll(/^ {2}'?([\w-]+)'?: \{\n {4}summary: (?:'([^']+)'|"([^"]+)")/gm),
].map(([, name, one, two]) => `- \`openearn ${name}\`: ${one ?? two}`)

/** The title of a document, from its first line. */
const titleOf = (path) => read(path).split('\n', 1)[0].replace(/^#+ */, '')
const documents = readdirSync(new URL('docs', root))
  .filter((name) => name.endsWith('.md'))
  .sort()
  .map((name) => `- [${titleOf(`docs/${name}`)}](docs/${name})`)

const text = `# OpenEarn

> An earn service that you host yourself: it shows yield vaults, builds deposits and withdrawals that are ready to sign, and credits the
> distributor whose code stands in the calldata. It never holds funds or keys and sends nothing.

- Run it: \`npm ci && npm start\`, then \`npm run demo\`. Keys, accounts and vaults of the devnet are in \`.openearn/dev.json\`.
- Call it: send \`X-API-Key\`. A publishable key (\`pk_…\`) may be used in pages; a secret one (\`sk_…\`) never.
- In TypeScript use \`@openearn/sdk\`: one typed function an operation, and \`@openearn/sdk/flows\`, which checks each plan before a wallet is asked.
- Amounts are texts in a token's smallest unit, instants RFC 3339 in UTC. Every failure has \`code\`, \`status\`, \`error\`, \`context\` and perhaps \`reason\`.
- A POST takes an \`Idempotency-Key\`; retry 429 and 503 after \`Retry-After\`.

## Documents

- [README](README.md): run, test, call
- [ARCHITECTURE](ARCHITECTURE.md): rooms, data flow, rules
- [GLOSSARY](GLOSSARY.md): words
- [sdk/README](sdk/README.md): client, flows, polling, checks before signing
- [react/README](react/README.md): React hooks over the client and the flows
- [widget/README](widget/README.md): the vaults of a service as one React component
${documents.join('\n')}

## Operations

The whole document: [service/openapi.json](service/openapi.json).

${operations.join('\n')}

## Commands

${commands.join('\n')}

## Examples

- [A script that deposits](examples/script/README.md)
- [A backend for an app](examples/backend/README.md)
- [A vault kind](examples/vault-kind/README.md)
- [A portfolio adapter](examples/portfolio-adapter/README.md)
`

const file = new URL('llms.txt', root)
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('llms.txt is not that of today: node scripts/llms.mjs writes it anew')
    process.exitCode = 1
  }
} else writeFileSync(file, text)
