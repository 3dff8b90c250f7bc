import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** A fenced block of a document: where its first line stands, what its fence says, and its lines without their indent. */
export type Snippet = { document: string; line: number; language: string; lines: string[] }

/** Which folders hold documents for whoever uses, runs or changes this. */
const folders = [
  '',
  'docs/',
  'docs/decisions/',
  'sdk/',
  'react/',
  'service/',
  'contracts/',
  'examples/vault-kind/',
  'examples/portfolio-adapter/',
]

export async function listDocuments(): Promise<string[]> {
  const lists = await Promise.all(folders.map((folder) => readdir(`${root}${folder}`)))
  return folders.flatMap((folder, index) =>
    (lists[index] ?? []).filter((name) => name.endsWith('.md')).map((name) => `${folder}${name}`),
  )
}

export const readDocument = (document: string) => readFile(`${root}${document}`, 'utf8')

/** The fenced blocks of a document, those within a list too. */
export async function readSnippets(document: string): Promise<Snippet[]> {
  const snippets: Snippet[] = []
  let open: { indent: number; snippet: Snippet } | undefined
  for (const [index, line] of (await readDocument(document)).split('\n').entries()) {
    const fence = /^( *)```(.*)$/.exec(line)
    if (fence && open) {
      snippets.push(open.snippet)
      open = undefined
    } else if (fence) {
      const [, indent = '', language = ''] = fence
      open = { indent: indent.length, snippet: { document, line: index + 2, language: language.trim(), lines: [] } }
    } else open?.snippet.lines.push(line.slice(open.indent))
  }
  return snippets
}

/** A line of shell without its comment, empty where there is nothing else. */
export const commandOf = (line: string) => line.replace(/(^|\s+)# .*$/, '').trim()

/** Documents whose snippets are no promise to whoever uses this: what they show is a fact of a place or a day. */
const decisions = /^docs\/decisions\/|^CHANGELOG\.md$/

/** The environment a snippet is run in. */
export type Session = 'devnet' | 'earnest'

/** Where the shell lines of a snippet are run. */
export function sessionOf({ lines }: Snippet): Session {
  if (lines.some((line) => /DATABASE_URL=postgres|catalogue import/.test(line))) return 'earnest'
  return 'devnet'
}

/** Lines of shell that no session runs, each with what holds it instead. A line that is not there any more is red. */
export const notRun: Record<string, Record<string, string>> = {
  'README.md': {
    'npm ci && npm start': 'installs and stays: startNewDevnet starts what it starts, the script of CI installs',
    'npm ci && npm test': 'it runs this test',
    'npm run build': 'ran before: this is what it built',
  },
  'CONTRIBUTING.md': {
    'npm ci && npm start': 'as in README.md',
    'npm run demo': 'as in README.md, where it is run',
    'npm ci && npm test': 'it runs this test',
    'npm run test:fast': 'a part of npm test',
    'npx vitest run service/src/features/membership': 'a part of npm test',
    'npm run coverage': 'npm test, measured',
    'npm run format': 'changes the checkout; npm test fails where it would change anything',
  },
  'docs/configuration.md': {
    'export PORT=4120 OPS_PORT=4121 ANVIL_PORT=8645 OPENEARN_DATA_DIR=.openearn-second':
      'every devnet of a test runs next to others, with these four settings',
    'npm start': 'as in README.md',
    'PGPASSWORD=$(cat .openearn/postgres/data/openearn.password) psql -h "$PWD/.openearn/postgres/run" -U openearn openearn':
      'psql comes with PostgreSQL’s client tools, which nothing here brings; embeddedRole.test.ts logs in in this way',
  },
  'docs/runbook.md': {
    'npm run build': 'as in README.md',
    'for folder in packages/attribution packages/embedded-postgres contracts sdk service; do npm pack ./$folder; done':
      'installed.long.test.ts and packed.test.ts pack these folders',
    'npm install --omit=dev …/openearn-*.tgz viem@2.57.1': 'installed.long.test.ts installs these',
    'npx openearn start': 'installed.long.test.ts starts it where it was installed',
    'cp deploy/systemd/*.service /etc/systemd/system/': 'needs root: deployUnits.test.ts reads these units',
    'docker build -f deploy/Containerfile -t openearn .':
      'installedImage.long.test.ts runs the lines of the recipe without an engine',
    'docker run -d --name earn -v earn:/var/lib/openearn:rw -p 127.0.0.1:4020:4020 -p 127.0.0.1:4021:4021 openearn':
      'as above: it starts what the image starts',
    'systemctl daemon-reload': 'needs a machine that systemd runs',
    'systemctl start openearn-migrate': 'as above',
    'systemctl enable --now openearn@serve openearn@watch': 'as above',
    'patronictl -c /etc/patroni/config.yml switchover openearn':
      'cluster.long.test.ts does it, where Patroni is installed',
    'pgbackrest --stanza=openearn stanza-create': 'backup.long.test.ts does it, where pgBackRest is installed',
    'pgbackrest --stanza=openearn check': 'as above',
    'pgbackrest --stanza=openearn --type=full backup': 'as above',
    'pgbackrest --stanza=openearn restore': 'as above',
    "pgbackrest --stanza=openearn --type=time '--target=2026-11-29 21:00:00+00' --target-action=promote restore":
      'as above',
    'pgbackrest --stanza=openearn info': 'as above',
    'pgbackrest --stanza=openearn --set=20261129-205001F --type=name --target=block-1-23456789 --target-action=promote restore':
      'as above',
    'pg_dump --format=custom --file openearn.dump "$DATABASE_URL"':
      'PostgreSQL’s client tools, of the server’s version, which nothing here brings',
    'pg_restore --no-owner --dbname postgres://…/an_empty_database openearn.dump': 'as above',
  },
  'sdk/README.md': {
    'node sdk/examples/checkBeforeSigning.mjs': 'sdk/test/examples.test.ts runs it',
    'node sdk/examples/readAttribution.mjs': 'sdk/test/examples.test.ts runs it',
  },
  'service/README.md': {
    'npm install --omit=dev @openearn/service': 'installed.long.test.ts installs it from its tarball',
    'npx openearn help': 'installed.long.test.ts runs it where it was installed',
    'npx openearn migrate': 'as above',
    'npx openearn start': 'as above',
  },
}

/** Blocks that are no shell and no program, by document and fence, each with what holds them. */
export const heldElsewhere: Record<string, string> = {
  'README.md mermaid': 'a picture: examples.test.ts runs the demo, which takes this way',
  'docs/mcp.md json': 'flows.test.ts starts the server with these words',
  'ARCHITECTURE.md': 'architecture.test.ts has the order of the rooms',
  'CONTRIBUTING.md diff service/migrations/NNNN_opportunity_lockup.sql': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/catalogue/tables.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/catalogue/schema.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/catalogue/item.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/catalogue/memory/filter.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/migrations/NNNN_entrants.sql': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/entrants/storeEntrants.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/entrants/projection.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/entrants/listEntrants.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/features/entrants/index.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/server/projections.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/src/server/operations.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff service/test/architecture.test.ts': 'workedExample.test.ts applies it',
  'CONTRIBUTING.md diff docs/catalogue.md': 'workedExample.test.ts applies it',
  'docs/catalogue.md': 'what a refused import says, line by line: importCatalogue.test.ts',
  'docs/catalogue.md json': 'documents.test.ts imports both, one as a part of the other',
  'docs/configuration.md': 'a request and its answer: signer.test.ts has them on the wire',
  'docs/events.md bash': 'two requests: getEvents.test.ts and createWebhook.test.ts have them',
  'docs/errors.md json': 'docs.test.ts holds it against the table of errors',
  'react/README.md tsx': 'hooks.test.ts bundles it, and deposits with it in a browser',
  'react/README.md tsx server': 'hooks.test.ts draws a page on a server with these functions',
  'sdk/README.md js file': 'flows.test.ts makes the file with this command and gives it to the client',
  'docs/events.md text': 'forward.test.ts runs it',
  'docs/replication.md sql publisher': 'replication.test.ts runs it',
  'docs/replication.md sql subscriber': 'replication.test.ts runs it',
  'docs/runbook.md sql openearn_service': 'roles.ts runs it, for lesserRole.test.ts and packed.test.ts',
}

/** Programs in a document, by document and fence: examples.test.ts type-checks and runs them. */
export const programs = [
  'docs/integrating.md ts',
  'docs/events.md ts',
  'docs/moving.md ts',
  'sdk/README.md ts',
  'sdk/README.md js',
  'sdk/README.md mjs',
]

/** Every snippet a reader may take as it stands. */
export async function readAllSnippets(): Promise<Snippet[]> {
  const documents = (await listDocuments()).filter((document) => !decisions.test(document))
  return (await Promise.all(documents.map(readSnippets))).flat()
}

export const nameOf = ({ document, language }: Snippet) => `${document} ${language}`.trim()

/** The lines of shell of a session, by document, each at its own number, with nothing between them. */
export function scriptsOf(snippets: readonly Snippet[], session: Session): Map<string, string> {
  const scripts = new Map<string, string[]>()
  for (const snippet of snippets) {
    if (snippet.language !== 'sh' || sessionOf(snippet) !== session) continue
    const lines = scripts.get(snippet.document) ?? []
    for (const [index, line] of snippet.lines.entries()) {
      const command = commandOf(line)
      if (command === '' || notRun[snippet.document]?.[command] !== undefined) continue
      const place = snippet.line + index - 1
      scripts.set(snippet.document, lines)
      while (lines.length < place) lines.push('')
      lines[place] = line
    }
  }
  return new Map([...scripts].map(([document, lines]) => [document, lines.join('\n')]))
}
