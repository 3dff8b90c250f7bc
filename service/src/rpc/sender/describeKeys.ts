import type { SenderStatus } from './storeSenders.js'

/** A transaction of our own that is still open after this time needs an operator. */
const openSecondsMax = 1_800

export type KeyHealth = { name: string; well: boolean; detail: string; advice: string }

/** How old the oldest transaction of a key is that is not over, in seconds; zero where all are over. Pure. */
export function computeOpenSeconds({ oldestAt }: SenderStatus, now: Date): number {
  return oldestAt ? Math.max(0, Math.round((now.getTime() - oldestAt.getTime()) / 1_000)) : 0
}

/** The health of a sending key, and advice for the operator. Pure. */
export function describeKey(status: SenderStatus, now: Date): KeyHealth {
  const { chainId, address, stopped, isReleased, open, oldestId, oldestReason } = status
  const seconds = computeOpenSeconds(status, now)
  const name = `sender ${address} on ${chainId}`
  if (stopped !== null)
    return {
      ...{ name, well: false },
      detail: `nothing is signed: ${stopped}${isReleased ? ' (it is released at its next look)' : ''}`,
      advice: `find who else uses the key, or what a restored database has forgotten (\`openearn sender list\`; cancel what was sent already); then openearn sender release ${address} --chain ${chainId}`,
    }
  if (seconds <= openSecondsMax)
    return { name, well: true, detail: `${open} open, the oldest for ${seconds} s`, advice: '' }
  return {
    ...{ name, well: false },
    detail: `${open} open, the oldest (${oldestId}) for ${seconds} s: ${oldestReason ?? 'it waits to be mined'}`,
    advice: `pay the key in, raise its cap, or wait for cheaper gas, as the reason says; or openearn sender cancel ${oldestId}`,
  }
}
