/** Trusted types, where a browser has them. */
type Policies = {
  createPolicy(
    name: string,
    rules: { createScriptURL(text: string): string },
  ): { createScriptURL(text: string): string }
}

const file = new URL('./warm.worker.js', import.meta.url).href

/** The only address that the page's policy lets be a script: the policy makes no other, whatever it is asked for. */
function trust(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies }
  return trustedTypes?.createPolicy('openearn', { createScriptURL: () => file }).createScriptURL(file) ?? file
}

/** The first format of a number takes a browser 15 to 25 ms of processor time: it happens while the page waits for its answers. */
try {
  new Worker(trust(), { type: 'module' })
} catch {
  // A proxy in front of the service may set a stricter policy: the first format is slow then, and nothing else.
}
