import { signers } from '../../../packages/attribution/test/suffixes.js'
import { start } from '../simulation/model.js'
import type { Line } from './recording.js'
import { simulatedSigner } from './simulated.js'

/** Distributors, one of them later than the rest, one that for a while takes signed attributions only, and our keys. */
export function listOperatorConfiguration(): Line[] {
  const keys = new Set([simulatedSigner, ...signers.map(({ address }) => address)])
  return [
    ...[...keys].map((address): Line => ({ signer: { address: address.toLowerCase() } })),
    { distributor: { id: 'alpha', activeFrom: 0 } },
    { distributor: { id: 'Beta_2', activeFrom: 0 } },
    { distributor: { id: 'gamma-3', activeFrom: start + 12 * 20 } },
    { setting: { distributorId: 'alpha', signedOnly: true, activeFrom: start + 12 * 40 } },
    { setting: { distributorId: 'alpha', signedOnly: false, activeFrom: start + 12 * 60 } },
  ]
}

/** Histories side by side, as a service sees chains that grow at once. */
export function mergeHistories(...histories: readonly (readonly Line[])[]): Line[] {
  const length = Math.max(...histories.map((history) => history.length))
  return Array.from({ length }, (_, index) => histories.flatMap((history) => history.slice(index, index + 1))).flat()
}
