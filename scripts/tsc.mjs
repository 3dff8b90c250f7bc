// The compiler of TypeScript 7, which needs a quarter of the processor time. Tools that read programs use TypeScript 6.
await import(new URL('lib/tsc.js', import.meta.resolve('typescript-native/package.json')).href)
