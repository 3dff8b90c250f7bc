import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { build } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The Reacts that the hooks work with: 19 of this package, and 18 of a folder of its own. */
export const reacts = {
  18: {
    react: `${root}scripts/react18/node_modules/react`,
    'react-dom': `${root}scripts/react18/node_modules/react-dom`,
  },
  19: {},
} as const
export type ReactVersion = keyof typeof reacts

/** A program of this folder with the built packages, as their users bundle them; in React's development mode, which warns. */
export async function bundle(
  name: string,
  version: ReactVersion,
  platform: 'browser' | 'node',
  text?: string,
): Promise<Map<string, string>> {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const built = await rolldown({
    input: file,
    platform,
    // A program that stands in a document.
    plugins: [
      {
        name: 'text',
        load: (id: string) => (id === file ? text : undefined),
        resolveId: (id: string) => (id === file ? id : undefined),
      },
    ],
    resolve: { alias: reacts[version] },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    logLevel: 'silent',
  })
  const { output } = await built.generate({ format: 'esm', entryFileNames: 'entry.js' })
  await built.close()
  return new Map(output.map((chunk) => [chunk.fileName, 'code' in chunk ? chunk.code : '']))
}

/** The app of `examples/react`, built with its settings as a user builds it; its pages stand among the files. */
export async function bundleExample(env: Record<string, string>): Promise<Map<string, string>> {
  const folder = `${root}examples/react`
  const define = Object.entries(env).map(([name, value]) => [`import.meta.env.${name}`, JSON.stringify(value)])
  const result = await build({
    ...{ root: folder, configFile: false, logLevel: 'error', define: Object.fromEntries(define) },
    build: {
      write: false,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: [`${folder}/index.html`, `${folder}/wagmi.html`] },
    },
  })
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((each) => ('output' in each ? each.output : []))
  return new Map(outputs.map((each) => [each.fileName, 'code' in each ? each.code : String(each.source)]))
}
