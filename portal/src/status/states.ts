/** States of chains and vaults in plain words. */
export const states: Readonly<Record<string, string>> = {
  'not-started': 'not read yet',
  backfilling: 'the past is being read',
  live: 'followed',
  stalled: 'not read for a while',
  paused: 'paused by the operator',
  unsupported: 'not followed: this kind of vault is not known',
}
